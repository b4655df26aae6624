-- name: views_are_replayed
-- Whether the views are what this program makes of the log.
SELECT are_replayed FROM views;

-- name: put_views_are_replayed
-- From now on the views are what this program makes of the log.
UPDATE views SET are_replayed = 1;

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
INSERT INTO event (tenant_id, seq, stream_id, version, subject, header, body, link) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

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

-- name: drop_row
-- One memory row.
DELETE FROM memory WHERE tenant_id = ? AND created_seq = ?;

-- name: drop_derivations
-- What the memories of a subject were made from.
DELETE FROM derivation WHERE tenant_id = ? AND subject = ?;

-- name: subject_values
-- The floors of the values of every memory row of a subject.
INSERT OR REPLACE INTO forget_floor (tenant_id, subject, target_kind, target, floor_seq, floor_at)
SELECT tenant_id, subject, 'value', agent || char(31) || purpose || char(31) || lower(hex(fingerprint)), :seq, :at
FROM memory WHERE tenant_id = :tenant AND subject = :subject AND fingerprint IS NOT NULL;

-- name: drop_values
-- The floors of the values of a subject, which an erasure takes along.
DELETE FROM forget_floor WHERE tenant_id = ? AND subject = ? AND target_kind = 'value';

-- name: with_derived
-- Memory rows, all that was made from them and all that stands behind them, through however many steps.
WITH RECURSIVE taken (memory_id) AS (
    SELECT unhex(value) FROM json_each(:ids)
    UNION
    SELECT derivation.child FROM derivation JOIN taken ON derivation.parent = taken.memory_id
    WHERE derivation.tenant_id = :tenant AND derivation.kind IN ('derived', 'merged')
)
SELECT memory.* FROM taken JOIN memory ON memory.tenant_id = :tenant AND memory.memory_id = taken.memory_id;

-- name: ended_in_scope
-- Rows of one scope whose memories have ended, from which nothing was made and behind which nothing stands: a forget
-- must find those again.
SELECT * FROM memory
WHERE tenant_id = ? AND subject = ? AND agent = ? AND purpose = ? AND scope_tier = ? AND scope_id = ?
  AND status NOT IN ('active', 'quarantined', 'revoking')
  AND NOT EXISTS (SELECT 1 FROM derivation AS d WHERE d.tenant_id = memory.tenant_id AND d.parent = memory.memory_id
                  AND d.kind IN ('derived', 'merged'));

-- name: standing
-- Where the memory rows of a subject lie in the log.
SELECT created_seq FROM memory WHERE tenant_id = ? AND subject = ?;

-- name: key_rows
-- Every row of one key within four walls.
SELECT * FROM memory WHERE tenant_id = ? AND agent = ? AND purpose = ? AND subject = ? AND key_digest = ?;

-- name: keyed_of_subject
-- Rows of one subject that have a key and pass the hard filters.
SELECT * FROM memory
WHERE tenant_id = :tenant AND subject = :subject AND agent = :agent AND purpose = :purpose AND status = 'active'
  AND key_digest IS NOT NULL AND (:key_digest IS NULL OR key_digest = :key_digest)
  AND expires_at > :now AND valid_from <= :valid_at AND valid_to > :valid_at AND trust >= :trust_min
  AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
  AND (:scopes IS NULL OR scope_tier || ':' || scope_id IN (SELECT value FROM json_each(:scopes)))
  AND (:hidden IS NULL OR created_seq NOT IN (SELECT value FROM json_each(:hidden)));

-- name: keyed_of_boundary
-- Rows of every subject that have a key and pass the hard filters.
SELECT * FROM memory
WHERE tenant_id = :tenant AND agent = :agent AND purpose = :purpose AND status = 'active'
  AND key_digest IS NOT NULL AND (:key_digest IS NULL OR key_digest = :key_digest)
  AND expires_at > :now AND valid_from <= :valid_at AND valid_to > :valid_at AND trust >= :trust_min
  AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
  AND (:scopes IS NULL OR scope_tier || ':' || scope_id IN (SELECT value FROM json_each(:scopes)))
  AND (:hidden IS NULL OR created_seq NOT IN (SELECT value FROM json_each(:hidden)));

-- name: put_floor
-- A forget floor; a later one lies higher.
INSERT OR REPLACE INTO forget_floor (tenant_id, subject, target_kind, target, floor_seq, floor_at)
VALUES (?, ?, ?, ?, ?, ?);

-- name: floors
-- The floors of some targets of a subject, each named as kind and target.
SELECT f.tenant_id, f.subject, f.target_kind, f.target, f.floor_seq, f.floor_at
FROM json_each(:targets) AS t
CROSS JOIN forget_floor AS f ON f.tenant_id = :tenant AND f.subject = :subject
  AND f.target_kind = t.value ->> 0 AND f.target = t.value ->> 1;

-- name: forgot_seq
-- Where a tenant's last floor lies.
SELECT floor_seq FROM forget_floor WHERE tenant_id = ? ORDER BY floor_seq DESC LIMIT 1;

-- name: put_suppression
-- A forget of a leaf alone.
INSERT OR REPLACE INTO suppression (tenant_id, forget_id, subject, agent, purpose, key_digest, scope, place, seq,
                                    holds_until, probe_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: drop_suppression
-- A forget of a leaf alone is over.
DELETE FROM suppression WHERE tenant_id = ? AND forget_id = ?;

-- name: drop_suppressions
-- The forgets of leaves alone of a subject.
DELETE FROM suppression WHERE tenant_id = ? AND subject = ?;

-- name: probe_again
-- A forget of a leaf alone is probed again then.
UPDATE suppression SET probe_at = ? WHERE tenant_id = ? AND forget_id = ?;

-- name: suppressions
-- The forgets of leaves alone that hold now for a subject.
SELECT * FROM suppression WHERE tenant_id = ? AND subject = ? AND holds_until > ?;

-- name: suppression
-- A forget of a leaf alone that is not over.
SELECT * FROM suppression WHERE tenant_id = ? AND forget_id = ?;

-- name: probes_due
-- Forgets of any tenant that are to be probed by now.
SELECT * FROM suppression WHERE probe_at <= ? ORDER BY probe_at LIMIT ?;

-- name: scopes_ended
-- Task and session scopes of any tenant with memories that have ended, of subjects without a hold.
SELECT DISTINCT tenant_id, agent, purpose, subject, scope_tier, scope_id FROM memory
WHERE scope_tier IN ('task', 'session') AND status = 'expired' AND expires_at <= ?
  AND NOT EXISTS (SELECT 1 FROM hold WHERE hold.tenant_id = memory.tenant_id AND hold.subject = memory.subject)
  AND NOT EXISTS (SELECT 1 FROM derivation AS d WHERE d.tenant_id = memory.tenant_id AND d.parent = memory.memory_id
                  AND d.kind IN ('derived', 'merged'))
LIMIT ?;

-- name: put_hold
-- A legal hold, in place of the one before.
INSERT OR REPLACE INTO hold (tenant_id, subject, placed_seq, placed_by, placed_at, review_at)
VALUES (?, ?, ?, ?, ?, ?);

-- name: end_hold
-- A legal hold is released.
DELETE FROM hold WHERE tenant_id = ? AND subject = ?;

-- name: hold
-- The legal hold on a subject.
SELECT tenant_id, subject, placed_seq, placed_by, placed_at, review_at FROM hold WHERE tenant_id = ? AND subject = ?;

-- name: put_erasure
-- The last erasure of a subject.
INSERT OR REPLACE INTO erasure (tenant_id, subject, erasure_id, begun_seq, done_seq) VALUES (?, ?, ?, ?, ?);

-- name: erasure
-- The last erasure of a subject.
SELECT tenant_id, subject, erasure_id, begun_seq, done_seq FROM erasure WHERE tenant_id = ? AND subject = ?;

-- name: erasures_begun
-- Erasures of any tenant that have no certificate yet.
SELECT tenant_id, subject, erasure_id, begun_seq, done_seq FROM erasure WHERE done_seq = 0;

-- name: put_derivation
-- One memory was made from another, or took its place.
INSERT OR IGNORE INTO derivation (tenant_id, parent, child, subject, kind) VALUES (?, ?, ?, ?, ?);

-- name: put_alert
-- Something that a person should look at.
INSERT OR REPLACE INTO alert (tenant_id, seq, subject, kind, message, about, raised_at)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: alerts
-- A page of alerts, newest first.
SELECT tenant_id, seq, subject, kind, message, about, raised_at FROM alert
WHERE tenant_id = :tenant AND seq < :before
  AND (:subjects IS NULL OR subject IN (SELECT value FROM json_each(:subjects)))
  AND (:kind IS NULL OR kind = :kind)
ORDER BY seq DESC LIMIT :limit;

-- name: subject_events
-- The events about a subject behind a position, oldest first.
SELECT seq, header, body, link FROM event INDEXED BY event_subject
WHERE tenant_id = ? AND subject = ? AND seq > ? ORDER BY seq LIMIT ?;

-- name: subject_streams
-- Every memory that a subject ever had: each has one first version.
SELECT stream_id FROM event INDEXED BY event_subject
WHERE tenant_id = ? AND subject = ? AND version = 1 AND seq <= ? ORDER BY seq;

-- name: purge_bodies
-- The sealed bodies of a subject's events up to a position.
UPDATE event SET body = NULL WHERE tenant_id = ? AND subject = ? AND seq <= ? AND body IS NOT NULL;

-- name: bodies_left
-- How many sealed bodies of a subject are left up to a position.
SELECT count(*) FROM event WHERE tenant_id = ? AND subject = ? AND seq <= ? AND body IS NOT NULL;

-- name: words_left
-- How many memories of a subject, up to a position, are found by words.
SELECT count(*) FROM search.document AS d JOIN search.subject AS s ON s.id = d.subject
WHERE s.tenant_id = ? AND s.subject = ? AND d.created_seq <= ?;

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
       CASE WHEN status IN ('active', 'quarantined') AND expires_at <= :now THEN 'expired'
            WHEN status = 'revoking' THEN 'revoked' ELSE status END)
ORDER BY created_seq DESC LIMIT :limit;

-- name: passing_of_subject
-- Which rows of one subject pass the hard filters, and in which version; read from the index alone.
SELECT json_group_array(created_seq), json_group_array(version) FROM memory INDEXED BY memory_by_subject
WHERE tenant_id = :tenant AND subject = :subject AND agent = :agent AND purpose = :purpose AND status = 'active'
  AND expires_at > :now AND valid_from <= :valid_at AND valid_to > :valid_at AND trust >= :trust_min
  AND written_at >= :written_from AND written_at < :written_until
  AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
  AND (:scopes IS NULL OR scope_tier || ':' || scope_id IN (SELECT value FROM json_each(:scopes)))
  AND (:hidden IS NULL OR created_seq NOT IN (SELECT value FROM json_each(:hidden)))
  AND (:key_from IS NULL OR created_seq IN (
      SELECT created_seq FROM search.document WHERE boundary = :boundary AND key >= :key_from AND key < :key_until
  ));

-- name: passing_of_boundary
-- Which rows of every subject pass the hard filters, and in which version; read from the index alone.
SELECT json_group_array(created_seq), json_group_array(version) FROM memory INDEXED BY memory_by_boundary
WHERE tenant_id = :tenant AND agent = :agent AND purpose = :purpose AND status = 'active'
  AND expires_at > :now AND valid_from <= :valid_at AND valid_to > :valid_at AND trust >= :trust_min
  AND written_at >= :written_from AND written_at < :written_until
  AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
  AND (:scopes IS NULL OR scope_tier || ':' || scope_id IN (SELECT value FROM json_each(:scopes)))
  AND (:hidden IS NULL OR created_seq NOT IN (SELECT value FROM json_each(:hidden)))
  AND (:key_from IS NULL OR created_seq IN (
      SELECT created_seq FROM search.document WHERE boundary = :boundary AND key >= :key_from AND key < :key_until
  ));

-- name: columns_of_subject
-- What ranking takes of these rows of one subject, with their vectors of one model.
SELECT m.created_seq, m.memory_id, m.kind, m.trust, m.confidence, m.written_at, m.tokens, m.subject, m.thread,
       m.position, m.source_type, m.source_id, v.vector
FROM json_each(:seqs) AS s
CROSS JOIN memory AS m ON m.tenant_id = :tenant AND m.created_seq = s.value
LEFT JOIN search.embedding AS v
    ON v.boundary = :boundary AND v.subject = :subject_number AND v.model = :model AND v.created_seq = s.value;

-- name: columns_of_boundary
-- What ranking takes of these rows of every subject, with their vectors of one model.
SELECT m.created_seq, m.memory_id, m.kind, m.trust, m.confidence, m.written_at, m.tokens, m.subject, m.thread,
       m.position, m.source_type, m.source_id, v.vector
FROM json_each(:seqs) AS s
CROSS JOIN memory AS m ON m.tenant_id = :tenant AND m.created_seq = s.value
LEFT JOIN search.document AS d ON d.tenant_id = :tenant AND d.created_seq = s.value
LEFT JOIN search.embedding AS v
    ON v.boundary = d.boundary AND v.subject = d.subject AND v.model = :model AND v.created_seq = s.value;

-- name: boundary
-- The number under which the word index keeps a boundary.
SELECT id FROM search.boundary WHERE tenant_id = ? AND agent = ? AND purpose = ?;

-- name: subject
-- The number under which the word index keeps a subject.
SELECT id FROM search.subject WHERE tenant_id = ? AND subject = ?;

-- name: postings_of_subject
-- Where terms stand among what one subject has in a boundary, filters or not.
SELECT p.term, json_group_array(p.created_seq), json_group_array(p.frequency)
FROM json_each(:terms) AS t
CROSS JOIN search.posting AS p ON p.boundary = :boundary AND p.term = t.value AND p.subject = :subject_number
GROUP BY p.term;

-- name: postings_of_boundary
-- Where terms stand among what every subject has in a boundary, filters or not.
SELECT p.term, json_group_array(p.created_seq), json_group_array(p.frequency)
FROM json_each(:terms) AS t
CROSS JOIN search.posting AS p ON p.boundary = :boundary AND p.term = t.value
GROUP BY p.term;

-- name: unembedded
-- Memories that are found by words and have no vector of this model, oldest first.
SELECT d.created_seq, m.memory_id, d.version FROM search.document AS d
CROSS JOIN memory AS m ON m.tenant_id = d.tenant_id AND m.created_seq = d.created_seq
WHERE d.tenant_id = :tenant AND d.created_seq > :after AND NOT EXISTS (
    SELECT 1 FROM search.embedding AS v
    WHERE v.boundary = d.boundary AND v.subject = d.subject AND v.model = :model AND v.created_seq = d.created_seq
)
ORDER BY d.created_seq LIMIT :limit;

-- name: models
-- The models that a tenant's memories have vectors of, and how many of each.
SELECT v.model, count(*) FROM search.boundary AS b CROSS JOIN search.embedding AS v ON v.boundary = b.id
WHERE b.tenant_id = :tenant GROUP BY v.model ORDER BY v.model;
