-- name: put_shown
-- A recall returned a memory.
INSERT INTO shown (tenant_id, memory_id, seq) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING;

-- name: put_used
-- A response used a memory.
INSERT INTO used (tenant_id, memory_id, seq, tool_calls) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING;

-- name: put_revoked_source
-- A source that is revoked.
INSERT INTO revoked_source (tenant_id, seq, source_type, source_id, revoked_at, finished_seq)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (tenant_id, seq) DO UPDATE SET finished_seq = excluded.finished_seq;

-- name: end_revocation
-- Every memory of a revoked source has its own event.
UPDATE revoked_source SET finished_seq = %s WHERE tenant_id = %s AND seq = %s;

-- name: put_policy
-- The policy that was switched on last.
INSERT INTO policy (tenant_id, seq, version, digest, done_seq) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (tenant_id) DO UPDATE SET seq = excluded.seq, version = excluded.version, digest = excluded.digest,
    done_seq = excluded.done_seq;

-- name: end_examination
-- Everything stored was examined under the policy that was switched on.
UPDATE policy SET done_seq = %s WHERE tenant_id = %s AND seq = %s;

-- name: policy
-- The policy that was switched on last.
SELECT tenant_id, seq, version, digest, done_seq FROM policy WHERE tenant_id = %s;

-- name: source_memories
-- Every memory that had text from a source, and all that was made from those, with the walls around them.
WITH RECURSIVE taken (memory_id, agent, subject) AS (
    SELECT memory_id, agent, subject FROM provenance
    WHERE tenant_id = %(tenant)s AND source_id = %(source_id)s
      AND (%(source_type)s::text IS NULL OR source_type = %(source_type)s)
    UNION
    SELECT d.child, taken.agent, taken.subject FROM derivation AS d JOIN taken ON d.parent = taken.memory_id
    WHERE d.tenant_id = %(tenant)s AND d.kind = 'derived'
)
SELECT memory_id, agent, subject FROM taken;

-- name: connector_memories
-- Every memory that a credential brought in, and all that was made from those, with the walls around them.
WITH RECURSIVE taken (memory_id, agent, subject) AS (
    SELECT memory_id, agent, subject FROM provenance WHERE tenant_id = %(tenant)s AND actor = %(source_id)s
    UNION
    SELECT d.child, taken.agent, taken.subject FROM derivation AS d JOIN taken ON d.parent = taken.memory_id
    WHERE d.tenant_id = %(tenant)s AND d.kind = 'derived'
)
SELECT memory_id, agent, subject FROM taken;

-- name: waiting
-- What waits in quarantine, that which waits longest first. An open side is NULL.
SELECT * FROM memory
WHERE tenant_id = %(tenant)s AND created_seq > %(after_seq)s AND status = 'quarantined' AND expires_at > %(now)s
  AND (%(agents)s::text[] IS NULL OR agent = ANY (%(agents)s))
  AND (%(purposes)s::text[] IS NULL OR purpose = ANY (%(purposes)s))
  AND (%(subjects)s::text[] IS NULL OR subject = ANY (%(subjects)s))
  AND (%(kind)s::text IS NULL OR kind = %(kind)s)
  AND (%(source_type)s::text IS NULL OR source_type = %(source_type)s)
  AND (%(source_id)s::text IS NULL OR source_id = %(source_id)s)
ORDER BY created_seq LIMIT %(limit)s;

-- name: source_record
-- How the memories that had text from a source fared; one that is gone counts as a proposal alone.
SELECT count(*),
    count(*) FILTER (WHERE m.status = 'quarantined' AND m.expires_at > %(now)s),
    count(*) FILTER (WHERE m.trust = 3),
    count(*) FILTER (WHERE m.status = 'rejected'),
    count(*) FILTER (WHERE m.status IN ('revoked', 'revoking'))
FROM (
    SELECT memory_id FROM provenance
    WHERE tenant_id = %(tenant)s AND source_id = %(source_id)s AND source_type = %(source_type)s
      AND (%(agents)s::text[] IS NULL OR agent = ANY (%(agents)s))
      AND (%(purposes)s::text[] IS NULL OR purpose = ANY (%(purposes)s))
      AND (%(subjects)s::text[] IS NULL OR subject = ANY (%(subjects)s))
    LIMIT %(limit)s
) AS theirs
LEFT JOIN memory AS m ON m.tenant_id = %(tenant)s AND m.memory_id = theirs.memory_id;

-- name: rows_of
-- The rows of these memories that can be read at all.
SELECT * FROM memory WHERE tenant_id = %(tenant)s AND memory_id = ANY (%(ids)s::uuid[]);

-- name: shown_in
-- Where the receipts of the recalls lie that returned any of these memories.
SELECT DISTINCT seq FROM shown WHERE tenant_id = %(tenant)s AND memory_id = ANY (%(ids)s::uuid[]);

-- name: recalls_of
-- How many recalls returned any of these memories, and the receipts of the first of them.
WITH seen AS MATERIALIZED (
    SELECT DISTINCT seq FROM shown WHERE tenant_id = %(tenant)s AND memory_id = ANY (%(ids)s::uuid[])
), listed AS (
    SELECT seq FROM seen ORDER BY seq LIMIT %(limit)s
)
SELECT (SELECT count(*) FROM seen), array_agg(event.stream_id ORDER BY event.seq) FROM listed
JOIN event ON event.tenant_id = %(tenant)s AND event.seq = listed.seq;

-- name: used_in
-- Where the reports of the responses lie that used any of these memories, and how many tool calls followed.
SELECT DISTINCT seq, tool_calls FROM used WHERE tenant_id = %(tenant)s AND memory_id = ANY (%(ids)s::uuid[]);

-- name: displaced
-- The memories whose places any of these took: their own events say so, since a correction that was never let in
-- takes no place, and one that was made from what it corrects has an edge of the other kind.
SELECT DISTINCT d.parent FROM derivation AS d
JOIN event AS e ON e.tenant_id = %(tenant)s AND e.stream_id = d.parent
WHERE d.tenant_id = %(tenant)s AND d.child = ANY (%(ids)s::uuid[])
  AND position('"type":"memory.superseded"' IN e.header) > 0
  AND position('"by":"' || d.child::text || '"' IN e.header) > 0;

-- name: events_at
-- The events at these positions, oldest first.
SELECT seq, header, body, link FROM event
WHERE tenant_id = %(tenant)s AND seq = ANY (%(seqs)s::bigint[]) ORDER BY seq;

-- name: events_of
-- The events of these memories, oldest first.
SELECT seq, header, body, link FROM event WHERE tenant_id = %(tenant)s AND stream_id = ANY (%(ids)s::uuid[]) ORDER BY seq;

-- name: revoked_source
-- The last revocation of a source.
SELECT tenant_id, seq, source_type, source_id, revoked_at, finished_seq FROM revoked_source
WHERE tenant_id = %s AND source_type = %s AND source_id = %s ORDER BY seq DESC LIMIT 1;

-- name: revocations_begun
-- Revocations some of whose memories have no event of it yet.
SELECT tenant_id, seq, source_type, source_id, revoked_at, finished_seq FROM revoked_source
WHERE tenant_id = %s AND finished_seq = 0;

-- name: memories_ever
-- Every memory that there ever was in a boundary, whether or not it can be read now, oldest first.
SELECT memory_id FROM provenance
WHERE tenant_id = %(tenant)s AND agent = %(agent)s AND purpose = %(purpose)s
  AND (%(subjects)s::text[] IS NULL OR subject = ANY (%(subjects)s))
GROUP BY memory_id ORDER BY min(seq) LIMIT %(limit)s;

-- name: memory_page
-- Memory rows of a tenant behind a position, oldest first.
SELECT * FROM memory WHERE tenant_id = %s AND created_seq > %s ORDER BY created_seq LIMIT %s;

-- name: links
-- The links of events behind a position, oldest first.
SELECT link FROM event WHERE tenant_id = %s AND seq > %s ORDER BY seq LIMIT %s;

-- name: tree_blocks
-- The roots of the full blocks of a tenant's Merkle tree, in order.
SELECT root FROM tree_block WHERE tenant_id = %s ORDER BY block;

-- name: put_tree_block
-- The root of a full block: whoever computes it gets the same.
INSERT INTO tree_block (tenant_id, block, root) VALUES (%s, %s, %s)
ON CONFLICT (tenant_id, block) DO UPDATE SET root = excluded.root;

-- name: put_checkpoint
-- What was signed; the first note of a size stays.
INSERT INTO checkpoint (tenant_id, size, root, note, made_at) VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING;

-- name: checkpoints
-- The checkpoints of a tenant below a size, the largest first.
SELECT tenant_id, size, root, note, made_at FROM checkpoint
WHERE tenant_id = %s AND size < %s ORDER BY size DESC LIMIT %s;

-- name: alerts_behind
-- Alerts behind a position, oldest first.
SELECT tenant_id, seq, subject, kind, message, about, raised_at FROM alert
WHERE tenant_id = %s AND seq > %s ORDER BY seq LIMIT %s;

-- name: progress
-- How far a worker got in a tenant's log.
SELECT seq FROM progress WHERE name = %s AND tenant_id = %s;

-- name: put_progress
-- How far a worker got in a tenant's log.
INSERT INTO progress (name, tenant_id, seq) VALUES (%s, %s, %s)
ON CONFLICT (tenant_id, name) DO UPDATE SET seq = excluded.seq;
