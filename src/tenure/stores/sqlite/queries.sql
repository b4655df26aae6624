-- name: head
-- The last position and link of a tenant's log.
SELECT seq, link FROM tenant_head WHERE tenant_id = ?;

-- name: put_head
-- Where a tenant's log ends now.
INSERT OR REPLACE INTO tenant_head (tenant_id, seq, link) VALUES (?, ?, ?);

-- name: tenants
-- Every tenant that has a log.
SELECT tenant_id FROM tenant_head ORDER BY tenant_id;

-- name: put_event
-- One event at the end of its tenant's log.
INSERT INTO event (tenant_id, seq, stream_id, version, header, body, link) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: event
-- The event at a position.
SELECT seq, header, body, link FROM event WHERE tenant_id = ? AND seq = ?;

-- name: log
-- Events behind a position, oldest first.
SELECT seq, header, body, link FROM event WHERE tenant_id = ? AND seq > ? ORDER BY seq LIMIT ?;

-- name: stream
-- The events of one memory or receipt; the index gives them by version, so no sorting is asked for.
SELECT seq, header, body, link FROM event INDEXED BY event_stream WHERE tenant_id = ? AND stream_id = ?;

-- name: stream_versions
-- The versions that the log has of a memory, whether or not it can still be read.
SELECT version FROM event INDEXED BY event_stream WHERE tenant_id = ? AND stream_id = ?;

-- name: first_answer
-- What an idempotency key stands for.
SELECT request, seq, outcome FROM idem WHERE tenant_id = ? AND key = ?;

-- name: answers
-- Idempotency keys behind this one in their order, and what they stand for.
SELECT key, request, seq, outcome FROM idem WHERE tenant_id = ? AND key > ? ORDER BY key LIMIT ?;

-- name: put_answer
-- What an idempotency key stands for from now on.
INSERT INTO idem (tenant_id, key, request, seq, outcome) VALUES (?, ?, ?, ?, ?);

-- name: put_memory
-- The row of a memory, in place of the one before.
INSERT OR REPLACE INTO memory VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: memory_row
-- The row of a memory that can be read at all.
SELECT * FROM memory WHERE tenant_id = ? AND memory_id = ?;

-- name: drop_subject
-- Every memory row of a subject.
DELETE FROM memory WHERE tenant_id = ? AND subject = ?;

-- name: subject_memories
-- How many memories of a subject stand, whatever their status.
SELECT count(*) FROM memory WHERE tenant_id = ? AND subject = ?;

-- name: put_floor
-- A forget floor; a later one lies higher.
INSERT OR REPLACE INTO forget_floor (tenant_id, target_kind, target, floor_seq) VALUES (?, ?, ?, ?);

-- name: floor
-- How high a target's floor lies.
SELECT floor_seq FROM forget_floor WHERE tenant_id = ? AND target_kind = ? AND target = ?;

-- name: put_key
-- A caller's credential, in place of the row before.
INSERT OR REPLACE INTO caller_key (tenant_id, key_id, name, grants, secret_hash, created_at, revoked_at)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: key
-- A caller's credential.
SELECT tenant_id, key_id, name, grants, secret_hash, created_at, revoked_at
FROM caller_key WHERE tenant_id = ? AND key_id = ?;

-- name: keys
-- Every credential of a tenant, oldest first.
SELECT tenant_id, key_id, name, grants, secret_hash, created_at, revoked_at
FROM caller_key WHERE tenant_id = ? ORDER BY created_at, key_id;

-- name: due
-- Rows of any tenant whose time has passed and that are not marked so.
SELECT * FROM memory WHERE status IN ('active', 'quarantined') AND expires_at <= ? ORDER BY expires_at LIMIT ?;

-- name: listing
-- A page of memory rows, newest first. An open side is NULL; a status is judged as of now.
SELECT * FROM memory
WHERE tenant_id = :tenant
  AND created_seq < coalesce(:before_seq, 9223372036854775807)
  AND (:agents IS NULL OR agent IN (SELECT value FROM json_each(:agents)))
  AND (:purposes IS NULL OR purpose IN (SELECT value FROM json_each(:purposes)))
  AND (:subjects IS NULL OR subject IN (SELECT value FROM json_each(:subjects)))
  AND (:kind IS NULL OR kind = :kind)
  AND (:source_type IS NULL OR source_type = :source_type)
  AND (:source_id IS NULL OR source_id = :source_id)
  AND (:key_digest IS NULL OR key_digest = :key_digest)
  AND (:status IS NULL OR :status =
       CASE WHEN status IN ('active', 'quarantined') AND expires_at <= :now THEN 'expired' ELSE status END)
ORDER BY created_seq DESC LIMIT :limit;

-- name: statistics_of_subject
-- How many rows of one subject pass the hard filters, and their tokens.
SELECT count(*), coalesce(sum(tokens), 0) FROM memory INDEXED BY memory_by_subject
WHERE tenant_id = :tenant AND subject = :subject AND agent = :agent AND purpose = :purpose AND status = 'active'
  AND expires_at > :now AND valid_from <= :now AND valid_to > :now AND trust >= :trust_min
  AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
  AND (:scopes IS NULL OR scope_tier || ':' || scope_id IN (SELECT value FROM json_each(:scopes)));

-- name: statistics_of_boundary
-- How many rows of every subject pass the hard filters, and their tokens.
SELECT count(*), coalesce(sum(tokens), 0) FROM memory
WHERE tenant_id = :tenant AND agent = :agent AND purpose = :purpose AND status = 'active'
  AND expires_at > :now AND valid_from <= :now AND valid_to > :now AND trust >= :trust_min
  AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
  AND (:scopes IS NULL OR scope_tier || ':' || scope_id IN (SELECT value FROM json_each(:scopes)));

-- name: recent_of_subject
-- The newest rows of one subject that pass the hard filters.
SELECT created_seq, memory_id, kind, trust, confidence, written_at, tokens FROM memory INDEXED BY memory_by_subject
WHERE tenant_id = :tenant AND subject = :subject AND agent = :agent AND purpose = :purpose AND status = 'active'
  AND expires_at > :now AND valid_from <= :now AND valid_to > :now AND trust >= :trust_min
  AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
  AND (:scopes IS NULL OR scope_tier || ':' || scope_id IN (SELECT value FROM json_each(:scopes)))
ORDER BY created_seq DESC LIMIT :limit;

-- name: recent_of_boundary
-- The newest rows of every subject that pass the hard filters.
SELECT created_seq, memory_id, kind, trust, confidence, written_at, tokens FROM memory
WHERE tenant_id = :tenant AND agent = :agent AND purpose = :purpose AND status = 'active'
  AND expires_at > :now AND valid_from <= :now AND valid_to > :now AND trust >= :trust_min
  AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
  AND (:scopes IS NULL OR scope_tier || ':' || scope_id IN (SELECT value FROM json_each(:scopes)))
ORDER BY created_seq DESC LIMIT :limit;

-- name: boundary
-- The number under which the word index keeps a boundary.
SELECT id FROM search.boundary WHERE tenant_id = ? AND agent = ? AND purpose = ?;

-- name: subject
-- The number under which the word index keeps a subject.
SELECT id FROM search.subject WHERE tenant_id = ? AND subject = ?;

-- name: hits_of_subject
-- Query terms in the rows of one subject; the hard filters are joined in, so nothing else leaves this statement.
SELECT p.term, p.frequency, m.created_seq, m.tokens
FROM json_each(:terms) AS t
CROSS JOIN search.posting AS p ON p.boundary = :boundary AND p.term = t.value AND p.subject = :subject_number
CROSS JOIN memory AS m ON m.tenant_id = :tenant AND m.created_seq = p.created_seq
WHERE m.subject = :subject AND m.agent = :agent AND m.purpose = :purpose AND m.status = 'active'
  AND m.expires_at > :now AND m.valid_from <= :now AND m.valid_to > :now AND m.trust >= :trust_min
  AND (:kinds IS NULL OR m.kind IN (SELECT value FROM json_each(:kinds)))
  AND (:scopes IS NULL OR m.scope_tier || ':' || m.scope_id IN (SELECT value FROM json_each(:scopes)));

-- name: hits_of_boundary
-- Query terms in the rows of every subject; the hard filters are joined in, so nothing else leaves this statement.
SELECT p.term, p.frequency, m.created_seq, m.tokens
FROM json_each(:terms) AS t
CROSS JOIN search.posting AS p ON p.boundary = :boundary AND p.term = t.value
CROSS JOIN memory AS m ON m.tenant_id = :tenant AND m.created_seq = p.created_seq
WHERE m.agent = :agent AND m.purpose = :purpose AND m.status = 'active'
  AND m.expires_at > :now AND m.valid_from <= :now AND m.valid_to > :now AND m.trust >= :trust_min
  AND (:kinds IS NULL OR m.kind IN (SELECT value FROM json_each(:kinds)))
  AND (:scopes IS NULL OR m.scope_tier || ':' || m.scope_id IN (SELECT value FROM json_each(:scopes)));

-- name: candidates_of_subject
-- Those of the named rows of one subject that pass the hard filters.
SELECT m.created_seq, m.memory_id, m.kind, m.trust, m.confidence, m.written_at, m.tokens
FROM json_each(:seqs) AS s
CROSS JOIN memory AS m ON m.tenant_id = :tenant AND m.created_seq = s.value
WHERE m.subject = :subject AND m.agent = :agent AND m.purpose = :purpose AND m.status = 'active'
  AND m.expires_at > :now AND m.valid_from <= :now AND m.valid_to > :now AND m.trust >= :trust_min
  AND (:kinds IS NULL OR m.kind IN (SELECT value FROM json_each(:kinds)))
  AND (:scopes IS NULL OR m.scope_tier || ':' || m.scope_id IN (SELECT value FROM json_each(:scopes)));

-- name: candidates_of_boundary
-- Those of the named rows of every subject that pass the hard filters.
SELECT m.created_seq, m.memory_id, m.kind, m.trust, m.confidence, m.written_at, m.tokens
FROM json_each(:seqs) AS s
CROSS JOIN memory AS m ON m.tenant_id = :tenant AND m.created_seq = s.value
WHERE m.agent = :agent AND m.purpose = :purpose AND m.status = 'active'
  AND m.expires_at > :now AND m.valid_from <= :now AND m.valid_to > :now AND m.trust >= :trust_min
  AND (:kinds IS NULL OR m.kind IN (SELECT value FROM json_each(:kinds)))
  AND (:scopes IS NULL OR m.scope_tier || ':' || m.scope_id IN (SELECT value FROM json_each(:scopes)));
