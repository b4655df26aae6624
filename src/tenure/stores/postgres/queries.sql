-- name: views_are_replayed
-- Whether the views are what this program makes of the logs.
SELECT views_are_replayed FROM tenure.schema_version;

-- name: put_views_are_replayed
-- From now on the views are what this program makes of the logs.
UPDATE tenure.schema_version SET views_are_replayed = true;

-- name: ensure_tenant
-- A tenant's place in the register and the row that every append of it locks.
WITH known AS (INSERT INTO tenant (tenant_id) VALUES (%(tenant)s) ON CONFLICT DO NOTHING)
INSERT INTO tenant_head (tenant_id, seq, link) VALUES (%(tenant)s, 0, %(link)s) ON CONFLICT DO NOTHING;

-- name: lock_head
-- The last position and link of a tenant's log, locked until the commit.
SELECT seq, link FROM tenant_head WHERE tenant_id = %s FOR UPDATE;

-- name: head
-- The last position and link of a tenant's log.
SELECT seq, link FROM tenant_head WHERE tenant_id = %s;

-- name: put_head
-- Where a tenant's log ends now.
UPDATE tenant_head SET seq = %(seq)s, link = %(link)s WHERE tenant_id = %(tenant)s;

-- name: tenants
-- Every tenant that has a log.
SELECT tenant_id FROM tenant ORDER BY tenant_id COLLATE "C";

-- name: put_event
-- One event at the end of its tenant's log.
INSERT INTO event (tenant_id, seq, stream_id, version, subject, header, body, link)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s);

-- name: event
-- The event at a position.
SELECT seq, header, body, link FROM event WHERE tenant_id = %s AND seq = %s;

-- name: log
-- Events behind a position, oldest first.
SELECT seq, header, body, link FROM event WHERE tenant_id = %s AND seq > %s ORDER BY seq LIMIT %s;

-- name: stream
-- The events of one memory or receipt, oldest first.
SELECT seq, header, body, link FROM event WHERE tenant_id = %s AND stream_id = %s ORDER BY seq;

-- name: streams
-- The last version that the log has of each of these memories, where the tenant's last floor lies, and the row of
-- each memory that can be read at all. The planner is not shown how many are asked for, or it would plan this anew
-- each time, at ten times the cost of the answer. The one plan that it keeps may be made over empty tables, where
-- it takes any index of the tenant's; only that of the ids has the order, so it takes that.
SELECT asked.id,
       (SELECT max(version) FROM event WHERE tenant_id = %(tenant)s AND stream_id = asked.id),
       (SELECT max(floor_seq) FROM forget_floor WHERE tenant_id = %(tenant)s),
       m.*
FROM unnest((SELECT %(streams)s::uuid[])) AS asked (id)
LEFT JOIN LATERAL (
    SELECT * FROM memory WHERE tenant_id = %(tenant)s AND memory_id BETWEEN asked.id AND asked.id
    ORDER BY memory_id LIMIT 1
) AS m ON true;

-- name: first_answer
-- What an idempotency key stands for.
SELECT request, seq, outcome FROM idem WHERE tenant_id = %s AND key = %s;

-- name: first_answers
-- What idempotency keys stand for.
SELECT key, request, seq, outcome FROM idem WHERE tenant_id = %s AND key = ANY (%s);

-- name: answers
-- Idempotency keys behind this one in their order, and what they stand for.
SELECT key, request, seq, outcome FROM idem WHERE tenant_id = %s AND key > %s ORDER BY key LIMIT %s;

-- name: put_answer
-- What an idempotency key stands for from now on.
INSERT INTO idem (tenant_id, key, request, seq, outcome) VALUES (%s, %s, %s, %s, %s);

-- name: put_written
-- Events at the end of their tenant's log, the rows of memories in place of those before, where they came from, and
-- where the log ends now if it grew; all of a tenant in one statement.
WITH events AS (
    INSERT INTO event (tenant_id, seq, stream_id, version, subject, header, body, link)
    SELECT %(tenant)s, seq, stream, version, subject, header, decode(body, 'base64'), decode(link, 'base64')
    FROM json_to_recordset(%(events)s::json) AS t (
        seq bigint, stream uuid, version integer, subject text, header text, body text, link text
    )
), memories AS (
    INSERT INTO memory (tenant_id, created_seq, memory_id, agent, purpose, subject, scope_tier, scope_id, kind, status, trust,
        confidence, source_type, source_id, thread, position, key_digest, fingerprint, written_at,
        expires_at, valid_from, valid_to, version, tokens)
    SELECT %(tenant)s, created_seq, memory_id, agent, purpose, subject, scope_tier, scope_id, kind, status, trust,
        confidence, source_type, source_id, thread, position, decode(key_digest, 'base64'), decode(fingerprint, 'base64'), written_at,
        expires_at, valid_from, valid_to, version, tokens
    FROM json_to_recordset(%(memories)s::json) AS t (
        created_seq bigint, memory_id uuid, agent text, purpose text, subject text, scope_tier text,
        scope_id text, kind text, status text, trust integer, confidence double precision, source_type text,
        source_id text, thread text, position bigint, key_digest text, fingerprint text, written_at bigint,
        expires_at bigint, valid_from bigint, valid_to bigint, version integer, tokens integer
    )
    ON CONFLICT (tenant_id, created_seq) DO UPDATE SET
        memory_id = excluded.memory_id,
        agent = excluded.agent,
        purpose = excluded.purpose,
        subject = excluded.subject,
        scope_tier = excluded.scope_tier,
        scope_id = excluded.scope_id,
        kind = excluded.kind,
        status = excluded.status,
        trust = excluded.trust,
        confidence = excluded.confidence,
        source_type = excluded.source_type,
        source_id = excluded.source_id,
        thread = excluded.thread,
        position = excluded.position,
        key_digest = excluded.key_digest,
        fingerprint = excluded.fingerprint,
        written_at = excluded.written_at,
        expires_at = excluded.expires_at,
        valid_from = excluded.valid_from,
        valid_to = excluded.valid_to,
        version = excluded.version,
        tokens = excluded.tokens
), sources AS (
    INSERT INTO provenance (tenant_id, source_id, source_type, memory_id, seq, actor, agent, purpose, subject)
    SELECT %(tenant)s, source_id, source_type, memory_id, seq, actor, agent, purpose, subject
    FROM json_to_recordset(%(sources)s::json) AS t (
        source_id text, source_type text, memory_id uuid, seq bigint, actor text, agent text, purpose text,
        subject text
    )
    ON CONFLICT DO NOTHING
)
UPDATE tenant_head SET seq = %(seq)s, link = %(link)s
WHERE tenant_id = %(tenant)s AND %(seq)s::bigint IS NOT NULL;

-- name: memory_row
-- The row of a memory that can be read at all.
SELECT * FROM memory WHERE tenant_id = %s AND memory_id = %s;

-- name: drop_subject
-- Every memory row of a subject.
DELETE FROM memory WHERE tenant_id = %s AND subject = %s;

-- name: subject_memories
-- How many memories of a subject stand, whatever their status.
SELECT count(*) FROM memory WHERE tenant_id = %s AND subject = %s;

-- name: drop_rows
-- Some memory rows.
DELETE FROM memory WHERE tenant_id = %s AND created_seq = ANY (%s);

-- name: drop_derivations
-- What the memories of a subject were made from.
DELETE FROM derivation WHERE tenant_id = %s AND subject = %s;

-- name: subject_values
-- The floors of the values of every memory row of a subject.
INSERT INTO forget_floor (tenant_id, subject, target_kind, target, floor_seq, floor_at)
SELECT DISTINCT tenant_id, subject, 'value',
       agent || chr(31) || purpose || chr(31) || encode(fingerprint, 'hex'), %(seq)s::bigint, %(at)s::bigint
FROM memory WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND fingerprint IS NOT NULL
ON CONFLICT (tenant_id, subject, target_kind, target)
DO UPDATE SET floor_seq = excluded.floor_seq, floor_at = excluded.floor_at;

-- name: drop_values
-- The floors of the values of a subject, which an erasure takes along.
DELETE FROM forget_floor WHERE tenant_id = %s AND subject = %s AND target_kind = 'value';

-- name: with_derived
-- Memory rows, all that was made from them and all that stands behind them, through however many steps.
WITH RECURSIVE taken (memory_id) AS (
    SELECT unnest(%(ids)s::uuid[])
    UNION
    SELECT derivation.child FROM derivation JOIN taken ON derivation.parent = taken.memory_id
    WHERE derivation.tenant_id = %(tenant)s AND derivation.kind IN ('derived', 'merged')
)
SELECT memory.* FROM taken JOIN memory ON memory.tenant_id = %(tenant)s AND memory.memory_id = taken.memory_id;

-- name: ended_in_scope
-- Rows of one scope whose memories have ended, from which nothing was made and behind which nothing stands: a forget
-- must find those again.
SELECT * FROM memory
WHERE tenant_id = %s AND subject = %s AND agent = %s AND purpose = %s AND scope_tier = %s AND scope_id = %s
  AND status NOT IN ('active', 'quarantined', 'revoking')
  AND NOT EXISTS (SELECT FROM derivation AS d WHERE d.tenant_id = memory.tenant_id AND d.parent = memory.memory_id
                  AND d.kind IN ('derived', 'merged'));

-- name: standing
-- Where the memory rows of a subject lie in the log.
SELECT created_seq FROM memory WHERE tenant_id = %s AND subject = %s;

-- name: key_rows
-- Every row of one key within four walls.
SELECT * FROM memory
WHERE tenant_id = %s AND agent = %s AND purpose = %s AND subject = %s AND key_digest = %s;

-- name: keyed_of_subject
-- Rows of one subject that have a key and pass the hard filters.
SELECT * FROM memory
WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND agent = %(agent)s AND purpose = %(purpose)s
  AND status = 'active'
  AND key_digest IS NOT NULL AND (%(key_digest)s::bytea IS NULL OR key_digest = %(key_digest)s::bytea)
  AND expires_at > %(now)s AND valid_from <= %(valid_at)s AND valid_to > %(valid_at)s AND trust >= %(trust_min)s
  AND (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s::text[]))
  AND (%(scopes)s::text[] IS NULL OR scope_tier || ':' || scope_id = ANY (%(scopes)s::text[]))
  AND (%(hidden)s::bigint[] IS NULL OR created_seq <> ALL (%(hidden)s::bigint[]));

-- name: keyed_of_boundary
-- Rows of every subject that have a key and pass the hard filters.
SELECT * FROM memory
WHERE tenant_id = %(tenant)s AND agent = %(agent)s AND purpose = %(purpose)s AND status = 'active'
  AND key_digest IS NOT NULL AND (%(key_digest)s::bytea IS NULL OR key_digest = %(key_digest)s::bytea)
  AND expires_at > %(now)s AND valid_from <= %(valid_at)s AND valid_to > %(valid_at)s AND trust >= %(trust_min)s
  AND (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s::text[]))
  AND (%(scopes)s::text[] IS NULL OR scope_tier || ':' || scope_id = ANY (%(scopes)s::text[]))
  AND (%(hidden)s::bigint[] IS NULL OR created_seq <> ALL (%(hidden)s::bigint[]));

-- name: put_floor
-- A forget floor; a later one lies higher.
INSERT INTO forget_floor (tenant_id, subject, target_kind, target, floor_seq, floor_at)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (tenant_id, subject, target_kind, target)
DO UPDATE SET floor_seq = excluded.floor_seq, floor_at = excluded.floor_at;

-- name: floors
-- The floors of some targets of a subject, each named as kind and target.
SELECT f.tenant_id, f.subject, f.target_kind, f.target, f.floor_seq, f.floor_at
FROM forget_floor AS f
JOIN unnest(%(kinds)s::text[], %(targets)s::text[]) AS t (target_kind, target)
  ON f.target_kind = t.target_kind AND f.target = t.target
WHERE f.tenant_id = %(tenant)s AND f.subject = %(subject)s;

-- name: forgot_seq
-- Where a tenant's last floor lies.
SELECT floor_seq FROM forget_floor WHERE tenant_id = %s ORDER BY floor_seq DESC LIMIT 1;

-- name: put_suppression
-- A forget of a leaf alone.
INSERT INTO suppression (tenant_id, forget_id, subject, agent, purpose, key_digest, scope, place, seq, holds_until,
                         probe_at)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (tenant_id, forget_id) DO UPDATE SET seq = excluded.seq, holds_until = excluded.holds_until,
    probe_at = excluded.probe_at;

-- name: drop_suppression
-- A forget of a leaf alone is over.
DELETE FROM suppression WHERE tenant_id = %s AND forget_id = %s;

-- name: drop_suppressions
-- The forgets of leaves alone of a subject.
DELETE FROM suppression WHERE tenant_id = %s AND subject = %s;

-- name: probe_again
-- A forget of a leaf alone is probed again then.
UPDATE suppression SET probe_at = %(probe_at)s
WHERE tenant_id = %(tenant)s AND forget_id = %(forget_id)s;

-- name: suppressions
-- The forgets of leaves alone that hold now for a subject.
SELECT * FROM suppression WHERE tenant_id = %s AND subject = %s AND holds_until > %s;

-- name: suppression
-- A forget of a leaf alone that is not over.
SELECT * FROM suppression WHERE tenant_id = %s AND forget_id = %s;

-- name: probes_due
-- A tenant's forgets that are to be probed by now.
SELECT * FROM suppression WHERE tenant_id = %s AND probe_at <= %s ORDER BY probe_at LIMIT %s;

-- name: scopes_ended
-- A tenant's task and session scopes with memories that have ended, of subjects without a hold.
SELECT DISTINCT tenant_id, agent, purpose, subject, scope_tier, scope_id FROM memory
WHERE tenant_id = %s AND scope_tier IN ('task', 'session') AND status = 'expired' AND expires_at <= %s
  AND NOT EXISTS (SELECT FROM hold WHERE hold.tenant_id = memory.tenant_id AND hold.subject = memory.subject)
  AND NOT EXISTS (SELECT FROM derivation AS d WHERE d.tenant_id = memory.tenant_id AND d.parent = memory.memory_id
                  AND d.kind IN ('derived', 'merged'))
LIMIT %s;

-- name: put_hold
-- A legal hold, in place of the one before.
INSERT INTO hold (tenant_id, subject, placed_seq, placed_by, placed_at, review_at)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (tenant_id, subject) DO UPDATE SET placed_seq = excluded.placed_seq, placed_by = excluded.placed_by,
    placed_at = excluded.placed_at, review_at = excluded.review_at;

-- name: end_hold
-- A legal hold is released.
DELETE FROM hold WHERE tenant_id = %s AND subject = %s;

-- name: hold
-- The legal hold on a subject.
SELECT tenant_id, subject, placed_seq, placed_by, placed_at, review_at FROM hold
WHERE tenant_id = %s AND subject = %s;

-- name: put_erasure
-- The last erasure of a subject.
INSERT INTO erasure (tenant_id, subject, erasure_id, begun_seq, done_seq) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (tenant_id, subject) DO UPDATE SET erasure_id = excluded.erasure_id, begun_seq = excluded.begun_seq,
    done_seq = excluded.done_seq;

-- name: erasure
-- The last erasure of a subject.
SELECT tenant_id, subject, erasure_id, begun_seq, done_seq FROM erasure WHERE tenant_id = %s AND subject = %s;

-- name: erasures_begun
-- A tenant's erasures that have no certificate yet.
SELECT tenant_id, subject, erasure_id, begun_seq, done_seq FROM erasure WHERE tenant_id = %s AND done_seq = 0;

-- name: put_derivation
-- One memory was made from another, or took its place.
INSERT INTO derivation (tenant_id, parent, child, subject, kind) VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING;

-- name: put_alert
-- Something that a person should look at.
INSERT INTO alert (tenant_id, seq, subject, kind, message, about, raised_at)
VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT DO NOTHING;

-- name: alerts
-- A page of alerts, newest first.
SELECT tenant_id, seq, subject, kind, message, about, raised_at FROM alert
WHERE tenant_id = %(tenant)s AND seq < %(before)s
  AND (%(subjects)s::text[] IS NULL OR subject = ANY (%(subjects)s::text[]))
  AND (%(kind)s::text IS NULL OR kind = %(kind)s::text)
ORDER BY seq DESC LIMIT %(limit)s;

-- name: subject_events
-- The events about a subject behind a position, oldest first.
SELECT seq, header, body, link FROM event WHERE tenant_id = %s AND subject = %s AND seq > %s ORDER BY seq LIMIT %s;

-- name: subject_streams
-- Every memory that a subject ever had: each has one first version.
SELECT stream_id FROM event WHERE tenant_id = %s AND subject = %s AND version = 1 AND seq <= %s ORDER BY seq;

-- name: purge_bodies
-- The sealed bodies of a subject's events up to a position.
UPDATE event SET body = NULL WHERE tenant_id = %s AND subject = %s AND seq <= %s AND body IS NOT NULL;

-- name: bodies_left
-- How many sealed bodies of a subject are left up to a position.
SELECT count(*) FROM event WHERE tenant_id = %s AND subject = %s AND seq <= %s AND body IS NOT NULL;

-- name: put_key
-- A caller's credential, in place of the row before.
INSERT INTO caller_key (tenant_id, key_id, name, grants, secret_hash, created_at, revoked_at)
VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (tenant_id, key_id) DO UPDATE SET revoked_at = excluded.revoked_at;

-- name: key
-- A caller's credential.
SELECT tenant_id, key_id, name, grants, secret_hash, created_at, revoked_at
FROM caller_key WHERE tenant_id = %s AND key_id = %s;

-- name: keys
-- Every credential of a tenant, oldest first.
SELECT tenant_id, key_id, name, grants, secret_hash, created_at, revoked_at
FROM caller_key WHERE tenant_id = %s ORDER BY created_at, key_id;

-- name: due
-- A tenant's rows whose time has passed and that are not marked so.
SELECT * FROM memory
WHERE tenant_id = %s AND status IN ('active', 'quarantined') AND expires_at <= %s ORDER BY expires_at LIMIT %s;

-- name: listing
-- A page of memory rows, newest first. An open side is NULL; a status is judged as of now.
SELECT * FROM memory
WHERE tenant_id = %(tenant)s
  AND created_seq < coalesce(%(before_seq)s, 9223372036854775807)
  AND (%(agents)s::text[] IS NULL OR agent = ANY (%(agents)s::text[]))
  AND (%(purposes)s::text[] IS NULL OR purpose = ANY (%(purposes)s::text[]))
  AND (%(subjects)s::text[] IS NULL OR subject = ANY (%(subjects)s::text[]))
  AND (%(kind)s::text IS NULL OR kind = %(kind)s::text)
  AND (%(source_type)s::text IS NULL OR source_type = %(source_type)s::text)
  AND (%(source_id)s::text IS NULL OR source_id = %(source_id)s::text)
  AND (%(key_digest)s::bytea IS NULL OR key_digest = %(key_digest)s::bytea)
  AND (%(status)s::text IS NULL OR %(status)s::text =
       CASE WHEN status IN ('active', 'quarantined') AND expires_at <= %(now)s THEN 'expired'
            WHEN status = 'revoking' THEN 'revoked' ELSE status END)
ORDER BY created_seq DESC LIMIT %(limit)s;

-- name: lease
-- Take or keep a job until a time from now, unless another holds it; the database's clock is the one that counts.
INSERT INTO lease (name, holder, held_until)
VALUES (%(name)s, %(holder)s, clock_timestamp() + make_interval(secs => %(seconds)s))
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
WHERE lease.holder = excluded.holder OR lease.held_until <= clock_timestamp()
RETURNING holder;

-- name: end_lease
-- A job is nobody's any more.
DELETE FROM lease WHERE name = %s;

-- name: end_leases
-- A node that closes holds no job any more.
DELETE FROM lease WHERE holder = %s;

-- name: passing_of_subject
-- Which rows of one subject pass the hard filters, and in which version.
SELECT coalesce(json_agg(created_seq)::text, '[]'), coalesce(json_agg(version)::text, '[]') FROM memory
WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND agent = %(agent)s AND purpose = %(purpose)s
  AND status = 'active'
  AND expires_at > %(now)s AND valid_from <= %(valid_at)s AND valid_to > %(valid_at)s AND trust >= %(trust_min)s
  AND written_at >= %(written_from)s AND written_at < %(written_until)s
  AND (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s::text[]))
  AND (%(scopes)s::text[] IS NULL OR scope_tier || ':' || scope_id = ANY (%(scopes)s::text[]))
  AND (%(hidden)s::bigint[] IS NULL OR created_seq <> ALL (%(hidden)s::bigint[]))
  AND (%(key_from)s::text IS NULL OR created_seq IN (
      SELECT created_seq FROM document
      WHERE tenant_id = %(tenant)s AND boundary = %(boundary)s AND key >= %(key_from)s AND key < %(key_until)s
  ));

-- name: passing_of_boundary
-- Which rows of every subject pass the hard filters, and in which version.
SELECT coalesce(json_agg(created_seq)::text, '[]'), coalesce(json_agg(version)::text, '[]') FROM memory
WHERE tenant_id = %(tenant)s AND agent = %(agent)s AND purpose = %(purpose)s
  AND status = 'active'
  AND expires_at > %(now)s AND valid_from <= %(valid_at)s AND valid_to > %(valid_at)s AND trust >= %(trust_min)s
  AND written_at >= %(written_from)s AND written_at < %(written_until)s
  AND (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s::text[]))
  AND (%(scopes)s::text[] IS NULL OR scope_tier || ':' || scope_id = ANY (%(scopes)s::text[]))
  AND (%(hidden)s::bigint[] IS NULL OR created_seq <> ALL (%(hidden)s::bigint[]))
  AND (%(key_from)s::text IS NULL OR created_seq IN (
      SELECT created_seq FROM document
      WHERE tenant_id = %(tenant)s AND boundary = %(boundary)s AND key >= %(key_from)s AND key < %(key_until)s
  ));

-- name: columns_of_subject
-- What ranking takes of these rows of one subject, with their vectors of one model.
SELECT m.created_seq, m.memory_id, m.kind, m.trust, m.confidence, m.written_at, m.tokens, m.subject, m.thread,
       m.position, m.source_type, m.source_id, v.vector
FROM memory AS m LEFT JOIN embedding AS v
    ON v.tenant_id = m.tenant_id AND v.boundary = %(boundary)s AND v.subject = %(subject_number)s
    AND v.model = %(model)s AND v.created_seq = m.created_seq
WHERE m.tenant_id = %(tenant)s AND m.created_seq = ANY (%(seqs)s::bigint[]);

-- name: columns_of_boundary
-- What ranking takes of these rows of every subject, with their vectors of one model.
SELECT m.created_seq, m.memory_id, m.kind, m.trust, m.confidence, m.written_at, m.tokens, m.subject, m.thread,
       m.position, m.source_type, m.source_id, v.vector
FROM memory AS m
LEFT JOIN document AS d ON d.tenant_id = m.tenant_id AND d.created_seq = m.created_seq
LEFT JOIN embedding AS v
    ON v.tenant_id = m.tenant_id AND v.boundary = d.boundary AND v.subject = d.subject
    AND v.model = %(model)s AND v.created_seq = m.created_seq
WHERE m.tenant_id = %(tenant)s AND m.created_seq = ANY (%(seqs)s::bigint[]);

-- name: postings_of_subject
-- Where terms stand among what one subject has in a boundary, filters or not.
SELECT term, json_agg(created_seq)::text, json_agg(frequency)::text FROM posting
WHERE tenant_id = %(tenant)s AND boundary = %(boundary)s AND term = ANY (%(terms)s)
  AND subject = %(subject_number)s
GROUP BY term;

-- name: postings_of_boundary
-- Where terms stand among what every subject has in a boundary, filters or not.
SELECT term, json_agg(created_seq)::text, json_agg(frequency)::text FROM posting
WHERE tenant_id = %(tenant)s AND boundary = %(boundary)s AND term = ANY (%(terms)s)
GROUP BY term;

-- name: unembedded
-- Memories that are found by words and have no vector of this model, oldest first.
SELECT d.created_seq, m.memory_id, d.version FROM document AS d
JOIN memory AS m ON m.tenant_id = d.tenant_id AND m.created_seq = d.created_seq
WHERE d.tenant_id = %(tenant)s AND d.created_seq > %(after)s AND NOT EXISTS (
    SELECT FROM embedding AS v
    WHERE v.tenant_id = d.tenant_id AND v.boundary = d.boundary AND v.subject = d.subject
      AND v.model = %(model)s AND v.created_seq = d.created_seq
)
ORDER BY d.created_seq LIMIT %(limit)s;

-- name: models
-- The models that a tenant's memories have vectors of, and how many of each.
SELECT model, count(*) FROM embedding WHERE tenant_id = %(tenant)s GROUP BY model ORDER BY model;
