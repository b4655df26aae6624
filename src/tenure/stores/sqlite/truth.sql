-- name: put_thing
-- A memory claims something of a thing.
INSERT OR IGNORE INTO thing (tenant_id, thing, memory_id, subject) VALUES (?, ?, ?, ?);

-- name: put_support
-- How many sources say what a memory says, in place of the count before.
INSERT OR REPLACE INTO support (tenant_id, memory_id, subject, voices, trusted_voices) VALUES (?, ?, ?, ?, ?);

-- name: put_contradiction
-- Two memories that cannot both be true; what was found of them first stays, and what a person decided.
INSERT OR IGNORE INTO contradiction (tenant_id, contradiction_id, agent, purpose, subject, believed, doubted, effect,
                                     because, valid_to_before, found_seq, found_at, resolved_seq, kept)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: drop_edge
-- A merge is undone.
DELETE FROM derivation WHERE tenant_id = ? AND parent = ? AND child = ? AND kind = 'merged';

-- name: end_contradiction
-- A person decided.
UPDATE contradiction SET resolved_seq = ?, kept = ? WHERE tenant_id = ? AND contradiction_id = ?;

-- name: drop_things_of_subject
-- What the memories of a subject claim something of.
DELETE FROM thing WHERE tenant_id = ? AND subject = ?;

-- name: drop_support_of_subject
-- How many say what the memories of a subject say.
DELETE FROM support WHERE tenant_id = ? AND subject = ?;

-- name: drop_contradictions_of_subject
-- The contradictions among the memories of a subject.
DELETE FROM contradiction WHERE tenant_id = ? AND subject = ?;

-- name: drop_backing_of_subject
-- What stands behind the memories of a subject, or bears them out.
DELETE FROM derivation WHERE tenant_id = ? AND subject = ? AND kind IN ('merged', 'corroborates');

-- name: drop_things_of
-- What these memories claim something of.
DELETE FROM thing WHERE tenant_id = :tenant AND memory_id IN (SELECT unhex(value) FROM json_each(:ids));

-- name: drop_support_of
-- How many say what these memories say.
DELETE FROM support WHERE tenant_id = :tenant AND memory_id IN (SELECT unhex(value) FROM json_each(:ids));

-- name: drop_contradictions_of
-- The contradictions that any of these memories has a part in.
DELETE FROM contradiction
WHERE tenant_id = :tenant AND contradiction_id IN (
    SELECT c.contradiction_id FROM json_each(:ids) AS asked
    CROSS JOIN contradiction AS c INDEXED BY contradiction_by_believed
        ON c.tenant_id = :tenant AND c.believed = unhex(asked.value)
    UNION
    SELECT c.contradiction_id FROM json_each(:ids) AS asked
    CROSS JOIN contradiction AS c INDEXED BY contradiction_by_doubted
        ON c.tenant_id = :tenant AND c.doubted = unhex(asked.value)
);

-- name: drop_backing_from
-- What stands behind these memories, or bears them out.
DELETE FROM derivation
WHERE tenant_id = :tenant AND parent IN (SELECT unhex(value) FROM json_each(:ids))
  AND kind IN ('merged', 'corroborates');

-- name: drop_backing_by
-- What these memories stand behind, or bear out.
DELETE FROM derivation
WHERE tenant_id = :tenant AND child IN (SELECT unhex(value) FROM json_each(:ids))
  AND kind IN ('merged', 'corroborates');

-- name: claiming
-- The memories that stand within four walls and claim something of any of these things, the most trusted first.
SELECT DISTINCT m.memory_id, m.trust, m.created_seq FROM json_each(:things) AS asked
CROSS JOIN thing AS t INDEXED BY thing_by_subject
    ON t.tenant_id = :tenant AND t.subject = :subject AND t.thing = unhex(asked.value)
CROSS JOIN memory AS m ON m.tenant_id = :tenant AND m.memory_id = t.memory_id
WHERE m.subject = :subject AND m.agent = :agent AND m.purpose = :purpose AND m.status = 'active'
  AND m.expires_at > :now
ORDER BY m.trust DESC, m.created_seq DESC LIMIT :limit;

-- name: things_of
-- Of what these memories claim something.
SELECT t.tenant_id, t.thing, t.memory_id, t.subject FROM json_each(:ids) AS asked
CROSS JOIN thing AS t ON t.tenant_id = :tenant AND t.memory_id = unhex(asked.value)
ORDER BY t.memory_id, t.thing;

-- name: edges
-- The edges of these kinds that leave any of the parents, or lead to any of the children.
SELECT d.tenant_id, d.parent, d.child, d.subject, d.kind FROM json_each(:parents) AS asked
CROSS JOIN derivation AS d ON d.tenant_id = :tenant AND d.parent = unhex(asked.value)
WHERE d.kind IN (SELECT value FROM json_each(:kinds))
UNION
SELECT d.tenant_id, d.parent, d.child, d.subject, d.kind FROM json_each(:children) AS asked
CROSS JOIN derivation AS d ON d.tenant_id = :tenant AND d.child = unhex(asked.value)
WHERE d.kind IN (SELECT value FROM json_each(:kinds))
ORDER BY 2, 3, 5;

-- name: support
-- How many sources say what these memories say.
SELECT s.tenant_id, s.memory_id, s.subject, s.voices, s.trusted_voices FROM json_each(:ids) AS asked
CROSS JOIN support AS s ON s.tenant_id = :tenant AND s.memory_id = unhex(asked.value)
ORDER BY s.memory_id;

-- name: contradiction
-- A contradiction, whether or not a person has decided.
SELECT * FROM contradiction WHERE tenant_id = ? AND contradiction_id = ?;

-- name: contradictions_of
-- Every contradiction that any of these memories has a part in, newest first.
SELECT c.* FROM json_each(:ids) AS asked
CROSS JOIN contradiction AS c INDEXED BY contradiction_by_believed
    ON c.tenant_id = :tenant AND c.believed = unhex(asked.value)
UNION
SELECT c.* FROM json_each(:ids) AS asked
CROSS JOIN contradiction AS c INDEXED BY contradiction_by_doubted
    ON c.tenant_id = :tenant AND c.doubted = unhex(asked.value)
ORDER BY found_seq DESC;

-- name: contradictions_beside
-- Contradictions that any of these memories has a part in: the open ones, or all that were found by a time. Those with
-- what waits come last, of each sort the newest first, so that a crowd of rumours hides nothing.
SELECT * FROM contradiction
WHERE tenant_id = :tenant AND contradiction_id IN (
    SELECT c.contradiction_id FROM json_each(:ids) AS asked
    CROSS JOIN contradiction AS c INDEXED BY contradiction_by_believed
        ON c.tenant_id = :tenant AND c.believed = unhex(asked.value)
    UNION ALL
    SELECT c.contradiction_id FROM json_each(:ids) AS asked
    CROSS JOIN contradiction AS c INDEXED BY contradiction_by_doubted
        ON c.tenant_id = :tenant AND c.doubted = unhex(asked.value)
) AND (found_at <= :found_by OR (:found_by IS NULL AND resolved_seq = 0))
ORDER BY effect = 'waits', found_seq DESC LIMIT :limit;

-- name: contradictions
-- A page of contradictions, decided or not, newest first. An open side is NULL.
SELECT * FROM contradiction
WHERE tenant_id = :tenant AND found_seq < :before AND (:is_open IS NULL OR resolved_seq > 0)
  AND (:agents IS NULL OR agent IN (SELECT value FROM json_each(:agents)))
  AND (:purposes IS NULL OR purpose IN (SELECT value FROM json_each(:purposes)))
  AND (:subjects IS NULL OR subject IN (SELECT value FROM json_each(:subjects)))
ORDER BY found_seq DESC LIMIT :limit;

-- name: contradictions_open
-- A page of contradictions that wait for a person, newest first. An open side is NULL.
SELECT * FROM contradiction
WHERE tenant_id = :tenant AND found_seq < :before AND resolved_seq = 0
  AND (:agents IS NULL OR agent IN (SELECT value FROM json_each(:agents)))
  AND (:purposes IS NULL OR purpose IN (SELECT value FROM json_each(:purposes)))
  AND (:subjects IS NULL OR subject IN (SELECT value FROM json_each(:subjects)))
ORDER BY found_seq DESC LIMIT :limit;

-- name: stranded
-- Merges of any tenant whose memory was revoked or expired while its evidence waits; what has longest to live first.
SELECT d.tenant_id, d.parent, d.child, d.subject, d.kind FROM derivation AS d
CROSS JOIN memory AS stands INDEXED BY memory_fallen
    ON stands.tenant_id = d.tenant_id AND stands.memory_id = d.parent
CROSS JOIN memory AS behind ON behind.tenant_id = d.tenant_id AND behind.memory_id = d.child
WHERE d.kind = 'merged' AND stands.status IN ('revoked', 'revoking', 'expired') AND behind.status = 'superseded'
ORDER BY behind.expires_at DESC, behind.created_seq LIMIT ?;

-- name: claims_left
-- What is left of what a subject's memories claimed, up to a position: memories written later have their own.
SELECT (SELECT count(*) FROM thing AS t WHERE t.tenant_id = :tenant AND t.subject = :subject AND NOT EXISTS (
            SELECT 1 FROM memory AS m
            WHERE m.tenant_id = :tenant AND m.memory_id = t.memory_id AND m.created_seq > :up_to_seq))
     + (SELECT count(*) FROM support AS s WHERE s.tenant_id = :tenant AND s.subject = :subject AND NOT EXISTS (
            SELECT 1 FROM memory AS m
            WHERE m.tenant_id = :tenant AND m.memory_id = s.memory_id AND m.created_seq > :up_to_seq))
     + (SELECT count(*) FROM contradiction
        WHERE tenant_id = :tenant AND subject = :subject AND found_seq <= :up_to_seq);
