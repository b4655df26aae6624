-- name: put_provenance
-- A memory had text from a source; the first time that it had counts.
INSERT OR IGNORE INTO provenance (tenant_id, source_id, source_type, memory_id, seq, actor, agent, purpose, subject)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: put_shown
-- A recall returned a memory.
INSERT OR IGNORE INTO shown (tenant_id, memory_id, seq) VALUES (?, ?, ?);

-- name: put_used
-- A response used a memory.
INSERT OR IGNORE INTO used (tenant_id, memory_id, seq, tool_calls) VALUES (?, ?, ?, ?);

-- name: put_revoked_source
-- A source that is revoked.
INSERT OR REPLACE INTO revoked_source (tenant_id, seq, source_type, source_id, revoked_at, finished_seq)
VALUES (?, ?, ?, ?, ?, ?);

-- name: end_revocation
-- Every memory of a revoked source has its own event.
UPDATE revoked_source SET finished_seq = ? WHERE tenant_id = ? AND seq = ?;

-- name: put_policy
-- The policy that was switched on last.
INSERT OR REPLACE INTO policy (tenant_id, seq, version, digest, done_seq) VALUES (?, ?, ?, ?, ?);

-- name: end_examination
-- Everything stored was examined under the policy that was switched on.
UPDATE policy SET done_seq = ? WHERE tenant_id = ? AND seq = ?;

-- name: policy
-- The policy that was switched on last.
SELECT tenant_id, seq, version, digest, done_seq FROM policy WHERE tenant_id = ?;

-- name: source_memories
-- Every memory that had text from a source, and all that was made from those, with the walls around them.
WITH RECURSIVE taken (memory_id, agent, subject) AS (
    SELECT memory_id, agent, subject FROM provenance
    WHERE tenant_id = :tenant AND source_id = :source_id AND (:source_type IS NULL OR source_type = :source_type)
    UNION
    SELECT d.child, taken.agent, taken.subject FROM derivation AS d JOIN taken ON d.parent = taken.memory_id
    WHERE d.tenant_id = :tenant AND d.kind = 'derived'
)
SELECT memory_id, agent, subject FROM taken;

-- name: connector_memories
-- Every memory that a credential brought in, and all that was made from those, with the walls around them.
WITH RECURSIVE taken (memory_id, agent, subject) AS (
    SELECT memory_id, agent, subject FROM provenance WHERE tenant_id = :tenant AND actor = :source_id
    UNION
    SELECT d.child, taken.agent, taken.subject FROM derivation AS d JOIN taken ON d.parent = taken.memory_id
    WHERE d.tenant_id = :tenant AND d.kind = 'derived'
)
SELECT memory_id, agent, subject FROM taken;

-- name: waiting
-- What waits in quarantine, that which waits longest first. An open side is NULL.
SELECT * FROM memory
WHERE tenant_id = :tenant AND created_seq > :after_seq AND status = 'quarantined' AND expires_at > :now
  AND (:agents IS NULL OR agent IN (SELECT value FROM json_each(:agents)))
  AND (:purposes IS NULL OR purpose IN (SELECT value FROM json_each(:purposes)))
  AND (:subjects IS NULL OR subject IN (SELECT value FROM json_each(:subjects)))
  AND (:kind IS NULL OR kind = :kind)
  AND (:source_type IS NULL OR source_type = :source_type)
  AND (:source_id IS NULL OR source_id = :source_id)
ORDER BY created_seq LIMIT :limit;

-- name: source_record
-- How the memories that had text from a source fared; one that is gone counts as a proposal alone.
SELECT count(*),
    coalesce(sum(m.status = 'quarantined' AND m.expires_at > :now), 0),
    coalesce(sum(m.trust = 3), 0),
    coalesce(sum(m.status = 'rejected'), 0),
    coalesce(sum(m.status IN ('revoked', 'revoking')), 0)
FROM (
    SELECT memory_id FROM provenance
    WHERE tenant_id = :tenant AND source_id = :source_id AND source_type = :source_type
      AND (:agents IS NULL OR agent IN (SELECT value FROM json_each(:agents)))
      AND (:purposes IS NULL OR purpose IN (SELECT value FROM json_each(:purposes)))
      AND (:subjects IS NULL OR subject IN (SELECT value FROM json_each(:subjects)))
    LIMIT :limit
) AS theirs
LEFT JOIN memory AS m ON m.tenant_id = :tenant AND m.memory_id = theirs.memory_id;

-- name: rows_of
-- The rows of these memories that can be read at all.
SELECT memory.* FROM json_each(:ids) AS asked
CROSS JOIN memory ON memory.tenant_id = :tenant AND memory.memory_id = unhex(asked.value);

-- name: shown_in
-- Where the receipts of the recalls lie that returned any of these memories.
SELECT DISTINCT shown.seq FROM json_each(:ids) AS asked
CROSS JOIN shown ON shown.tenant_id = :tenant AND shown.memory_id = unhex(asked.value);

-- name: recalls_of
-- How many recalls returned any of these memories, and the receipts of the first of them.
WITH seen AS MATERIALIZED (
    SELECT DISTINCT shown.seq FROM json_each(:ids) AS asked
    CROSS JOIN shown ON shown.tenant_id = :tenant AND shown.memory_id = unhex(asked.value)
), listed AS (
    SELECT seq FROM seen ORDER BY seq LIMIT :limit
)
SELECT (SELECT count(*) FROM seen), event.stream_id FROM listed
CROSS JOIN event ON event.tenant_id = :tenant AND event.seq = listed.seq ORDER BY listed.seq;

-- name: used_in
-- Where the reports of the responses lie that used any of these memories, and how many tool calls followed.
SELECT DISTINCT used.seq, used.tool_calls FROM json_each(:ids) AS asked
CROSS JOIN used ON used.tenant_id = :tenant AND used.memory_id = unhex(asked.value);

-- name: displaced
-- The memories whose places any of these took: their own events say so, since a correction that was never let in
-- takes no place, and one that was made from what it corrects has an edge of the other kind.
SELECT DISTINCT d.parent FROM json_each(:ids) AS asked
CROSS JOIN derivation AS d ON d.tenant_id = :tenant AND d.child = unhex(asked.value)
CROSS JOIN event AS e ON e.tenant_id = :tenant AND e.stream_id = d.parent
WHERE e.header LIKE '%"type":"memory.superseded"%'
  AND instr(replace(e.header, '-', ''), '"by":"' || asked.value || '"') > 0;

-- name: events_at
-- The events at these positions, oldest first.
SELECT event.seq, event.header, event.body, event.link FROM json_each(:seqs) AS asked
CROSS JOIN event ON event.tenant_id = :tenant AND event.seq = asked.value ORDER BY event.seq;

-- name: events_of
-- The events of these memories, in no order.
SELECT event.seq, event.header, event.body, event.link FROM json_each(:ids) AS asked
CROSS JOIN event INDEXED BY event_stream ON event.tenant_id = :tenant AND event.stream_id = unhex(asked.value);

-- name: revoked_source
-- The last revocation of a source.
SELECT tenant_id, seq, source_type, source_id, revoked_at, finished_seq FROM revoked_source
WHERE tenant_id = ? AND source_type = ? AND source_id = ? ORDER BY seq DESC LIMIT 1;

-- name: revocations_begun
-- Revocations, of any tenant or of one, some of whose memories have no event of it yet.
SELECT tenant_id, seq, source_type, source_id, revoked_at, finished_seq FROM revoked_source
WHERE finished_seq = 0 AND (:tenant IS NULL OR tenant_id = :tenant);

-- name: memories_ever
-- Every memory that there ever was in a boundary, whether or not it can be read now, oldest first.
SELECT memory_id FROM provenance
WHERE tenant_id = :tenant AND agent = :agent AND purpose = :purpose
  AND (:subjects IS NULL OR subject IN (SELECT value FROM json_each(:subjects)))
GROUP BY memory_id ORDER BY min(seq) LIMIT :limit;

-- name: memory_page
-- Memory rows of a tenant behind a position, oldest first.
SELECT * FROM memory WHERE tenant_id = ? AND created_seq > ? ORDER BY created_seq LIMIT ?;

-- name: links
-- The links of events behind a position, oldest first.
SELECT link FROM event WHERE tenant_id = ? AND seq > ? ORDER BY seq LIMIT ?;

-- name: tree_blocks
-- The roots of the full blocks of a tenant's Merkle tree, in order.
SELECT root FROM tree_block WHERE tenant_id = ? ORDER BY block;

-- name: put_tree_block
-- The root of a full block: whoever computes it gets the same.
INSERT OR REPLACE INTO tree_block (tenant_id, block, root) VALUES (?, ?, ?);

-- name: put_checkpoint
-- What was signed; the first note of a size stays.
INSERT OR IGNORE INTO checkpoint (tenant_id, size, root, note, made_at) VALUES (?, ?, ?, ?, ?);

-- name: checkpoints
-- The checkpoints of a tenant below a size, the largest first.
SELECT tenant_id, size, root, note, made_at FROM checkpoint
WHERE tenant_id = ? AND size < ? ORDER BY size DESC LIMIT ?;

-- name: alerts_behind
-- Alerts behind a position, oldest first.
SELECT tenant_id, seq, subject, kind, message, about, raised_at FROM alert
WHERE tenant_id = ? AND seq > ? ORDER BY seq LIMIT ?;

-- name: progress
-- How far a worker got in a tenant's log.
SELECT seq FROM progress WHERE name = ? AND tenant_id = ?;

-- name: put_progress
-- How far a worker got in a tenant's log.
INSERT OR REPLACE INTO progress (name, tenant_id, seq) VALUES (?, ?, ?);
