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
INSERT INTO event (tenant_id, seq, stream_id, version, header, body, link) VALUES (%s, %s, %s, %s, %s, %s, %s);

-- name: event
-- The event at a position.
SELECT seq, header, body, link FROM event WHERE tenant_id = %s AND seq = %s;

-- name: log
-- Events behind a position, oldest first.
SELECT seq, header, body, link FROM event WHERE tenant_id = %s AND seq > %s ORDER BY seq LIMIT %s;

-- name: stream
-- The events of one memory or receipt, oldest first.
SELECT seq, header, body, link FROM event WHERE tenant_id = %s AND stream_id = %s ORDER BY seq;

-- name: stream_versions
-- The last version that the log has of each of these memories, whether or not it can still be read.
SELECT stream_id, max(version) FROM event WHERE tenant_id = %s AND stream_id = ANY (%s) GROUP BY stream_id;

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

-- name: put_memory
-- The row of a memory, in place of the one before.
INSERT INTO memory (tenant_id, created_seq, memory_id, agent, purpose, subject, scope_tier, scope_id, kind, status, trust,
    confidence, source_type, source_id, thread, position, key_digest, fingerprint, written_at,
    expires_at, valid_from, valid_to, version, tokens)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
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
    tokens = excluded.tokens;

-- name: memory_row
-- The row of a memory that can be read at all.
SELECT * FROM memory WHERE tenant_id = %s AND memory_id = %s;

-- name: memory_rows
-- The rows of memories that can be read at all.
SELECT * FROM memory WHERE tenant_id = %s AND memory_id = ANY (%s);

-- name: drop_subject
-- Every memory row of a subject.
DELETE FROM memory WHERE tenant_id = %s AND subject = %s;

-- name: subject_memories
-- How many memories of a subject stand, whatever their status.
SELECT count(*) FROM memory WHERE tenant_id = %s AND subject = %s;

-- name: put_floor
-- A forget floor; a later one lies higher.
INSERT INTO forget_floor (tenant_id, target_kind, target, floor_seq) VALUES (%s, %s, %s, %s)
ON CONFLICT (tenant_id, target_kind, target) DO UPDATE SET floor_seq = excluded.floor_seq;

-- name: floor
-- How high a target's floor lies.
SELECT floor_seq FROM forget_floor WHERE tenant_id = %s AND target_kind = %s AND target = %s;

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
       CASE WHEN status IN ('active', 'quarantined') AND expires_at <= %(now)s THEN 'expired' ELSE status END)
ORDER BY created_seq DESC LIMIT %(limit)s;

-- name: statistics_of_subject
-- How many rows of one subject pass the hard filters, and their tokens.
SELECT count(*), coalesce(sum(tokens), 0) FROM memory
WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND agent = %(agent)s AND purpose = %(purpose)s
  AND status = 'active'
  AND expires_at > %(now)s AND valid_from <= %(now)s AND valid_to > %(now)s AND trust >= %(trust_min)s
  AND (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s::text[]))
  AND (%(scopes)s::text[] IS NULL OR scope_tier || ':' || scope_id = ANY (%(scopes)s::text[]));

-- name: recent_of_subject
-- The newest rows of one subject that pass the hard filters.
SELECT created_seq, memory_id, kind, trust, confidence, written_at, tokens FROM memory
WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND agent = %(agent)s AND purpose = %(purpose)s
  AND status = 'active'
  AND expires_at > %(now)s AND valid_from <= %(now)s AND valid_to > %(now)s AND trust >= %(trust_min)s
  AND (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s::text[]))
  AND (%(scopes)s::text[] IS NULL OR scope_tier || ':' || scope_id = ANY (%(scopes)s::text[]))
ORDER BY created_seq DESC LIMIT %(limit)s;

-- name: candidates_of_subject
-- Those of the named rows of one subject that pass the hard filters.
SELECT created_seq, memory_id, kind, trust, confidence, written_at, tokens FROM memory
WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND agent = %(agent)s AND purpose = %(purpose)s
  AND status = 'active'
  AND expires_at > %(now)s AND valid_from <= %(now)s AND valid_to > %(now)s AND trust >= %(trust_min)s
  AND (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s::text[]))
  AND (%(scopes)s::text[] IS NULL OR scope_tier || ':' || scope_id = ANY (%(scopes)s::text[]))
  AND created_seq = ANY (%(seqs)s);

-- name: hits_of_subject
-- Query terms in the rows of one subject; the hard filters are joined in, so nothing else leaves this statement.
-- Both sides are taken whole first and joined in full, so that the plan is good before the database has statistics:
-- a full join is hashed or merged, never looped over; what only one side has is dropped after it.
WITH passed AS MATERIALIZED (
    SELECT created_seq, tokens FROM memory
    WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND agent = %(agent)s AND purpose = %(purpose)s
      AND status = 'active'
      AND expires_at > %(now)s AND valid_from <= %(now)s AND valid_to > %(now)s AND trust >= %(trust_min)s
      AND (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s::text[]))
      AND (%(scopes)s::text[] IS NULL OR scope_tier || ':' || scope_id = ANY (%(scopes)s::text[]))
), found AS MATERIALIZED (
    SELECT term, frequency, created_seq FROM posting
    WHERE tenant_id = %(tenant)s AND boundary = %(boundary)s AND term = ANY (%(terms)s)
      AND subject = %(subject_number)s
)
SELECT found.term, found.frequency, created_seq, passed.tokens FROM found FULL JOIN passed USING (created_seq)
WHERE num_nulls(found.term, passed.tokens) = 0;

-- name: statistics_of_boundary
-- How many rows of every subject pass the hard filters, and their tokens.
SELECT count(*), coalesce(sum(tokens), 0) FROM memory
WHERE tenant_id = %(tenant)s AND agent = %(agent)s AND purpose = %(purpose)s
  AND status = 'active'
  AND expires_at > %(now)s AND valid_from <= %(now)s AND valid_to > %(now)s AND trust >= %(trust_min)s
  AND (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s::text[]))
  AND (%(scopes)s::text[] IS NULL OR scope_tier || ':' || scope_id = ANY (%(scopes)s::text[]));

-- name: recent_of_boundary
-- The newest rows of every subject that pass the hard filters.
SELECT created_seq, memory_id, kind, trust, confidence, written_at, tokens FROM memory
WHERE tenant_id = %(tenant)s AND agent = %(agent)s AND purpose = %(purpose)s
  AND status = 'active'
  AND expires_at > %(now)s AND valid_from <= %(now)s AND valid_to > %(now)s AND trust >= %(trust_min)s
  AND (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s::text[]))
  AND (%(scopes)s::text[] IS NULL OR scope_tier || ':' || scope_id = ANY (%(scopes)s::text[]))
ORDER BY created_seq DESC LIMIT %(limit)s;

-- name: candidates_of_boundary
-- Those of the named rows of every subject that pass the hard filters.
SELECT created_seq, memory_id, kind, trust, confidence, written_at, tokens FROM memory
WHERE tenant_id = %(tenant)s AND agent = %(agent)s AND purpose = %(purpose)s
  AND status = 'active'
  AND expires_at > %(now)s AND valid_from <= %(now)s AND valid_to > %(now)s AND trust >= %(trust_min)s
  AND (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s::text[]))
  AND (%(scopes)s::text[] IS NULL OR scope_tier || ':' || scope_id = ANY (%(scopes)s::text[]))
  AND created_seq = ANY (%(seqs)s);

-- name: hits_of_boundary
-- Query terms in the rows of every subject; the hard filters are joined in, so nothing else leaves this statement.
WITH found AS MATERIALIZED (
    SELECT term, frequency, created_seq FROM posting
    WHERE tenant_id = %(tenant)s AND boundary = %(boundary)s AND term = ANY (%(terms)s)
)
SELECT found.term, found.frequency, m.created_seq, m.tokens
FROM found JOIN memory AS m ON m.tenant_id = %(tenant)s AND m.created_seq = found.created_seq
WHERE m.agent = %(agent)s AND m.purpose = %(purpose)s AND m.status = 'active'
      AND m.expires_at > %(now)s AND m.valid_from <= %(now)s AND m.valid_to > %(now)s AND m.trust >= %(trust_min)s
      AND (%(kinds)s::text[] IS NULL OR m.kind = ANY (%(kinds)s::text[]))
      AND (%(scopes)s::text[] IS NULL OR m.scope_tier || ':' || m.scope_id = ANY (%(scopes)s::text[]));

-- name: built
-- Up to which position a tenant's word index is built; none after a crash of the server.
SELECT seq FROM search_built WHERE tenant_id = %s;

-- name: put_built
-- A tenant's word index is built up to this position, if it was up to where that begins; else nothing changes.
WITH moved AS (
    UPDATE search_built SET seq = %(seq)s WHERE tenant_id = %(tenant)s AND seq = %(after)s RETURNING seq
)
INSERT INTO search_built (tenant_id, seq)
SELECT %(tenant)s, %(seq)s WHERE %(after)s = 0 AND NOT EXISTS (SELECT FROM moved)
ON CONFLICT DO NOTHING;

-- name: documents
-- Which terms memories are found by.
SELECT created_seq, boundary, subject, terms FROM document WHERE tenant_id = %s AND created_seq = ANY (%s);

-- name: documents_of_subject
-- Which memories of a subject are found by which terms.
SELECT created_seq, boundary, subject, terms FROM document WHERE tenant_id = %s AND subject = %s;

-- name: put_document
-- The terms that a memory is found by.
INSERT INTO document (tenant_id, created_seq, boundary, subject, terms) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (tenant_id, created_seq) DO UPDATE SET terms = excluded.terms;

-- name: put_postings
-- The terms of memories, all in one statement.
INSERT INTO posting (tenant_id, boundary, term, subject, created_seq, frequency)
SELECT %s, * FROM unnest(%s::bigint[], %s::text[], %s::bigint[], %s::bigint[], %s::integer[])
ON CONFLICT (tenant_id, boundary, term, subject, created_seq) DO UPDATE SET frequency = excluded.frequency;

-- name: drop_postings
-- The terms of one memory are found no more.
DELETE FROM posting
WHERE tenant_id = %s AND boundary = %s AND subject = %s AND created_seq = %s AND term = ANY (%s);

-- name: drop_document
-- A memory is found no more.
DELETE FROM document WHERE tenant_id = %s AND created_seq = %s;

-- name: clear_postings
-- A tenant's word index starts anew.
DELETE FROM posting WHERE tenant_id = %s;

-- name: clear_documents
-- A tenant's word index starts anew.
DELETE FROM document WHERE tenant_id = %s;

-- name: clear_built
-- A tenant's word index starts anew.
DELETE FROM search_built WHERE tenant_id = %s;

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
