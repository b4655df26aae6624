-- A search reads which rows pass from an index alone.
DROP INDEX tenure.memory_by_subject;
DROP INDEX tenure.memory_by_boundary;
CREATE INDEX memory_by_subject ON tenure.memory (tenant_id, subject, agent, purpose, status, created_seq)
    INCLUDE (expires_at, valid_from, valid_to, trust, kind, scope_tier, scope_id, written_at, version);
CREATE INDEX memory_by_boundary ON tenure.memory (tenant_id, agent, purpose, status, created_seq)
    INCLUDE (expires_at, valid_from, valid_to, trust, kind, scope_tier, scope_id, written_at, version);

-- What waits for a reviewer is a small part of the memories.
CREATE INDEX memory_waiting ON tenure.memory (tenant_id, created_seq) WHERE status = 'quarantined';

-- Search data that also has keys, versions and vectors; it starts anew, and is built from the log.
TRUNCATE tenure.search_built, tenure.document, tenure.posting;
ALTER TABLE tenure.search_built ADD COLUMN analyser text NOT NULL;
ALTER TABLE tenure.document ADD COLUMN version integer NOT NULL, ADD COLUMN key text COLLATE "C";
CREATE INDEX document_key ON tenure.document (tenant_id, boundary, key, created_seq) WHERE key IS NOT NULL;
CREATE UNLOGGED TABLE tenure.embedding (
    tenant_id text NOT NULL,
    boundary bigint NOT NULL,
    subject bigint NOT NULL,
    model text NOT NULL,
    created_seq bigint NOT NULL,
    vector bytea NOT NULL,
    PRIMARY KEY (tenant_id, boundary, subject, model, created_seq)
);
ALTER TABLE tenure.embedding ALTER COLUMN vector SET STORAGE MAIN;
ALTER TABLE tenure.embedding ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenure.embedding FORCE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON tenure.embedding USING (tenant_id = nullif(current_setting('app.tenant', true), ''));
GRANT SELECT, INSERT, UPDATE, DELETE ON tenure.embedding TO tenure_app;
