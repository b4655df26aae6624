-- name: put_thing
-- A memory claims something of a thing.
INSERT INTO thing (tenant_id, thing, memory_id, subject) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING;

-- name: put_support
-- How many sources say what a memory says, in place of the count before.
INSERT INTO support (tenant_id, memory_id, subject, voices, trusted_voices) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (tenant_id, memory_id)
DO UPDATE SET subject = excluded.subject, voices = excluded.voices, trusted_voices = excluded.trusted_voices;

-- name: put_contradiction
-- Two memories that cannot both be true; what was found of them first stays, and what a person decided.
INSERT INTO contradiction (tenant_id, contradiction_id, agent, purpose, subject, believed, doubted, effect, because,
                           valid_to_before, found_seq, found_at, resolved_seq, kept)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT DO NOTHING;

-- name: drop_edge
-- A merge is undone.
DELETE FROM derivation WHERE tenant_id = %s AND parent = %s AND child = %s AND kind = 'merged';

-- name: end_contradiction
-- A person decided.
UPDATE contradiction SET resolved_seq = %(seq)s, kept = %(kept)s
WHERE tenant_id = %(tenant)s AND contradiction_id = %(contradiction_id)s;

-- name: drop_things_of_subject
-- What the memories of a subject claim something of.
DELETE FROM thing WHERE tenant_id = %s AND subject = %s;

-- name: drop_support_of_subject
-- How many say what the memories of a subject say.
DELETE FROM support WHERE tenant_id = %s AND subject = %s;

-- name: drop_contradictions_of_subject
-- The contradictions among the memories of a subject.
DELETE FROM contradiction WHERE tenant_id = %s AND subject = %s;

-- name: drop_backing_of_subject
-- What stands behind the memories of a subject, or bears them out.
DELETE FROM derivation WHERE tenant_id = %s AND subject = %s AND kind IN ('merged', 'corroborates');

-- name: drop_things_of
-- What these memories claim something of.
DELETE FROM thing WHERE tenant_id = %(tenant)s AND memory_id = ANY (%(ids)s::uuid[]);

-- name: drop_support_of
-- How many say what these memories say.
DELETE FROM support WHERE tenant_id = %(tenant)s AND memory_id = ANY (%(ids)s::uuid[]);

-- name: drop_contradictions_of
-- The contradictions that any of these memories has a part in.
DELETE FROM contradiction
WHERE tenant_id = %(tenant)s AND (believed = ANY (%(ids)s::uuid[]) OR doubted = ANY (%(ids)s::uuid[]));

-- name: drop_backing_from
-- What stands behind these memories, or bears them out.
DELETE FROM derivation
WHERE tenant_id = %(tenant)s AND parent = ANY (%(ids)s::uuid[]) AND kind IN ('merged', 'corroborates');

-- name: drop_backing_by
-- What these memories stand behind, or bear out.
DELETE FROM derivation
WHERE tenant_id = %(tenant)s AND child = ANY (%(ids)s::uuid[]) AND kind IN ('merged', 'corroborates');

-- name: claiming
-- The memories that stand within four walls and claim something of any of these things, the most trusted first.
SELECT m.memory_id FROM memory AS m
WHERE m.tenant_id = %(tenant)s AND m.subject = %(subject)s AND m.agent = %(agent)s AND m.purpose = %(purpose)s
  AND m.status = 'active' AND m.expires_at > %(now)s
  AND m.memory_id IN (
      SELECT t.memory_id FROM thing AS t
      WHERE t.tenant_id = %(tenant)s AND t.subject = %(subject)s AND t.thing = ANY (%(things)s::bytea[])
  )
ORDER BY m.trust DESC, m.created_seq DESC LIMIT %(limit)s;

-- name: things_of
-- Of what these memories claim something.
SELECT tenant_id, thing, memory_id, subject FROM thing
WHERE tenant_id = %(tenant)s AND memory_id = ANY (%(ids)s::uuid[]) ORDER BY memory_id, thing;

-- name: edges
-- The edges of these kinds that leave any of the parents, or lead to any of the children.
SELECT tenant_id, parent, child, subject, kind FROM derivation
WHERE tenant_id = %(tenant)s AND kind = ANY (%(kinds)s::text[])
  AND (parent = ANY (%(parents)s::uuid[]) OR child = ANY (%(children)s::uuid[]))
ORDER BY parent, child, kind;

-- name: support
-- How many sources say what these memories say.
SELECT tenant_id, memory_id, subject, voices, trusted_voices FROM support
WHERE tenant_id = %(tenant)s AND memory_id = ANY (%(ids)s::uuid[]) ORDER BY memory_id;

-- name: contradiction
-- A contradiction, whether or not a person has decided.
SELECT * FROM contradiction WHERE tenant_id = %s AND contradiction_id = %s;

-- name: contradictions_of
-- Every contradiction that any of these memories has a part in, newest first.
SELECT * FROM contradiction
WHERE tenant_id = %(tenant)s AND (believed = ANY (%(ids)s::uuid[]) OR doubted = ANY (%(ids)s::uuid[]))
ORDER BY found_seq DESC;

-- name: contradictions_beside
-- Contradictions that any of these memories has a part in: the open ones, or all that were found by a time. Those with
-- what waits come last, of each sort the newest first, so that a crowd of rumours hides nothing.
SELECT * FROM contradiction
WHERE tenant_id = %(tenant)s AND (believed = ANY (%(ids)s::uuid[]) OR doubted = ANY (%(ids)s::uuid[]))
  AND (found_at <= %(found_by)s OR (%(found_by)s::bigint IS NULL AND resolved_seq = 0))
ORDER BY effect = 'waits', found_seq DESC LIMIT %(limit)s;

-- name: contradictions
-- A page of contradictions, decided or not, newest first. An open side is NULL.
SELECT * FROM contradiction
WHERE tenant_id = %(tenant)s AND found_seq < %(before)s AND (%(is_open)s::boolean IS NULL OR resolved_seq > 0)
  AND (%(agents)s::text[] IS NULL OR agent = ANY (%(agents)s::text[]))
  AND (%(purposes)s::text[] IS NULL OR purpose = ANY (%(purposes)s::text[]))
  AND (%(subjects)s::text[] IS NULL OR subject = ANY (%(subjects)s::text[]))
ORDER BY found_seq DESC LIMIT %(limit)s;

-- name: contradictions_open
-- A page of contradictions that wait for a person, newest first. An open side is NULL.
SELECT * FROM contradiction
WHERE tenant_id = %(tenant)s AND found_seq < %(before)s AND resolved_seq = 0
  AND (%(agents)s::text[] IS NULL OR agent = ANY (%(agents)s::text[]))
  AND (%(purposes)s::text[] IS NULL OR purpose = ANY (%(purposes)s::text[]))
  AND (%(subjects)s::text[] IS NULL OR subject = ANY (%(subjects)s::text[]))
ORDER BY found_seq DESC LIMIT %(limit)s;

-- name: stranded
-- A tenant's merges whose memory was revoked or expired while its evidence waits; what has longest to live first.
SELECT d.tenant_id, d.parent, d.child, d.subject, d.kind, behind.expires_at FROM derivation AS d
JOIN memory AS stands ON stands.tenant_id = d.tenant_id AND stands.memory_id = d.parent
JOIN memory AS behind ON behind.tenant_id = d.tenant_id AND behind.memory_id = d.child
WHERE d.tenant_id = %s AND d.kind = 'merged' AND stands.status IN ('revoked', 'revoking', 'expired')
  AND behind.status = 'superseded'
ORDER BY behind.expires_at DESC, behind.created_seq LIMIT %s;

-- name: claims_left
-- What is left of what a subject's memories claimed, up to a position: memories written later have their own.
SELECT (SELECT count(*) FROM thing AS t
        WHERE t.tenant_id = %(tenant)s AND t.subject = %(subject)s AND NOT EXISTS (
            SELECT FROM memory AS m
            WHERE m.tenant_id = %(tenant)s AND m.memory_id = t.memory_id AND m.created_seq > %(up_to_seq)s))
     + (SELECT count(*) FROM support AS s
        WHERE s.tenant_id = %(tenant)s AND s.subject = %(subject)s AND NOT EXISTS (
            SELECT FROM memory AS m
            WHERE m.tenant_id = %(tenant)s AND m.memory_id = s.memory_id AND m.created_seq > %(up_to_seq)s))
     + (SELECT count(*) FROM contradiction
        WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND found_seq <= %(up_to_seq)s);
