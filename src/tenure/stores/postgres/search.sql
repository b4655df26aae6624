-- name: words_left
-- How many memories of a subject, up to a position, are found by words.
SELECT count(*) FROM document WHERE tenant_id = %s AND subject = %s AND created_seq <= %s;

-- name: built
-- Up to which position a tenant's word index is built; none after a crash of the server, or if another analyser made it.
SELECT seq FROM search_built WHERE tenant_id = %s AND analyser = %s;

-- name: drop_subject_postings
-- The terms of a subject's memories, but of those that stand, are found no more. Each is looked up by its key:
-- OFFSET 0 keeps the planner, which has no statistics of words, from reading the whole index instead.
DELETE FROM posting
WHERE tenant_id = %(tenant)s AND ctid = ANY (ARRAY (
    SELECT one.place
    FROM document AS d CROSS JOIN LATERAL unnest(d.terms) AS t (term)
    CROSS JOIN LATERAL (
        SELECT p.ctid AS place FROM posting AS p
        WHERE p.tenant_id = %(tenant)s AND p.boundary = d.boundary AND p.term = t.term
          AND p.subject = d.subject AND p.created_seq = d.created_seq
        OFFSET 0
    ) AS one
    WHERE d.tenant_id = %(tenant)s AND d.subject = %(subject)s
      AND d.created_seq <> ALL (%(standing)s::bigint[])
));

-- name: drop_subject_documents
-- A subject's memories, but those that stand, are found no more.
DELETE FROM document
WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND created_seq <> ALL (%(standing)s::bigint[]);

-- name: put_words
-- The terms that memories are found by, and up to where the index is built now: only if it was up to where these
-- changes begin, else that stays as it is; all of a tenant in one statement.
WITH told AS (
    SELECT * FROM json_to_recordset(%(documents)s::json) AS t (
        created_seq bigint, boundary bigint, subject bigint, version integer, key text, terms text[],
        counts integer[], vector text
    )
), documents AS (
    INSERT INTO document (tenant_id, created_seq, boundary, subject, version, key, terms)
    SELECT %(tenant)s, created_seq, boundary, subject, version, key, terms FROM told
    ON CONFLICT (tenant_id, created_seq) DO UPDATE
    SET terms = excluded.terms, version = excluded.version, key = coalesce(excluded.key, document.key)
), vectors AS (
    INSERT INTO embedding (tenant_id, boundary, subject, model, created_seq, vector)
    SELECT %(tenant)s, boundary, subject, %(model)s, created_seq, decode(vector, 'base64')
    FROM told WHERE vector IS NOT NULL
    ON CONFLICT (tenant_id, boundary, subject, model, created_seq) DO UPDATE SET vector = excluded.vector
), postings AS (
    INSERT INTO posting (tenant_id, boundary, term, subject, created_seq, frequency)
    SELECT %(tenant)s, boundary, word.term, subject, created_seq, word.frequency
    FROM told CROSS JOIN LATERAL unnest(terms, counts) AS word (term, frequency)
    ON CONFLICT (tenant_id, boundary, term, subject, created_seq) DO UPDATE SET frequency = excluded.frequency
), moved AS (
    UPDATE search_built SET seq = %(seq)s
    WHERE tenant_id = %(tenant)s AND seq = %(after)s AND analyser = %(analyser)s RETURNING seq
)
INSERT INTO search_built (tenant_id, seq, analyser)
SELECT %(tenant)s, %(seq)s, %(analyser)s WHERE %(after)s = 0 AND NOT EXISTS (SELECT FROM moved)
ON CONFLICT DO NOTHING;

-- name: drop_subject_vectors
-- A subject's memories, but those that stand, mean nothing any more.
DELETE FROM embedding AS v USING document AS d
WHERE d.tenant_id = %(tenant)s AND d.subject = %(subject)s AND d.created_seq <> ALL (%(standing)s::bigint[])
  AND v.tenant_id = %(tenant)s AND v.boundary = d.boundary AND v.subject = d.subject
  AND v.created_seq = d.created_seq;

-- name: drop_vectors
-- Some memories mean nothing any more.
DELETE FROM embedding AS v USING document AS d
WHERE d.tenant_id = %(tenant)s AND d.created_seq = ANY (%(seqs)s::bigint[])
  AND v.tenant_id = %(tenant)s AND v.boundary = d.boundary AND v.subject = d.subject
  AND v.created_seq = d.created_seq;

-- name: put_vectors
-- What memories mean by a model, of those that still say what was embedded.
INSERT INTO embedding (tenant_id, boundary, subject, model, created_seq, vector)
SELECT d.tenant_id, d.boundary, d.subject, %(model)s, d.created_seq, decode(t.vector, 'base64')
FROM json_to_recordset(%(vectors)s::json) AS t (created_seq bigint, version integer, vector text)
JOIN document AS d ON d.tenant_id = %(tenant)s AND d.created_seq = t.created_seq AND d.version = t.version
ON CONFLICT (tenant_id, boundary, subject, model, created_seq) DO UPDATE SET vector = excluded.vector;

-- name: drop_models
-- Only the vectors of this model stay.
DELETE FROM embedding WHERE tenant_id = %s AND model <> %s;

-- name: clear_vectors
-- A tenant's search data starts anew.
DELETE FROM embedding WHERE tenant_id = %s;

-- name: drop_postings
-- The terms of some memories are found no more; looked up as those of a subject are.
DELETE FROM posting
WHERE tenant_id = %(tenant)s AND ctid = ANY (ARRAY (
    SELECT one.place
    FROM document AS d CROSS JOIN LATERAL unnest(d.terms) AS t (term)
    CROSS JOIN LATERAL (
        SELECT p.ctid AS place FROM posting AS p
        WHERE p.tenant_id = %(tenant)s AND p.boundary = d.boundary AND p.term = t.term
          AND p.subject = d.subject AND p.created_seq = d.created_seq
        OFFSET 0
    ) AS one
    WHERE d.tenant_id = %(tenant)s AND d.created_seq = ANY (%(seqs)s::bigint[])
));

-- name: drop_documents
-- Some memories are found no more.
DELETE FROM document WHERE tenant_id = %(tenant)s AND created_seq = ANY (%(seqs)s::bigint[]);

-- name: clear_postings
-- A tenant's word index starts anew.
DELETE FROM posting WHERE tenant_id = %s;

-- name: clear_documents
-- A tenant's word index starts anew.
DELETE FROM document WHERE tenant_id = %s;

-- name: clear_built
-- A tenant's word index starts anew.
DELETE FROM search_built WHERE tenant_id = %s;
