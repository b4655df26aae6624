-- A search reads which rows pass from an index alone.
DROP INDEX memory_by_subject;
DROP INDEX memory_by_boundary;
CREATE INDEX memory_by_subject ON memory (
    tenant_id, subject, agent, purpose, status, created_seq, expires_at, valid_from, valid_to, trust, kind,
    scope_tier, scope_id, written_at, version, tokens
);
CREATE INDEX memory_by_boundary ON memory (
    tenant_id, agent, purpose, status, created_seq, expires_at, valid_from, valid_to, trust, kind, scope_tier,
    scope_id, written_at, version
);

-- What waits for a reviewer is a small part of the memories.
CREATE INDEX memory_waiting ON memory (tenant_id, created_seq) WHERE status = 'quarantined';
