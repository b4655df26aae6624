-- name: words_left
-- How many memories of a subject, up to a position, are found by words.
SELECT count(*) FROM document WHERE tenant_id = %s AND subject = %s AND created_seq <= %s;

-- name: built
-- Up to which position a tenant's word index is built; none after a crash of the server.
SELECT seq FROM search_built WHERE tenant_id = %s;

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
        created_seq bigint, boundary bigint, subject bigint, terms text[], counts integer[]
    )
), documents AS (
    INSERT INTO document (tenant_id, created_seq, boundary, subject, terms)
    SELECT %(tenant)s, created_seq, boundary, subject, terms FROM told
    ON CONFLICT (tenant_id, created_seq) DO UPDATE SET terms = excluded.terms
), postings AS (
    INSERT INTO posting (tenant_id, boundary, term, subject, created_seq, frequency)
    SELECT %(tenant)s, boundary, word.term, subject, created_seq, word.frequency
    FROM told CROSS JOIN LATERAL unnest(terms, counts) AS word (term, frequency)
    ON CONFLICT (tenant_id, boundary, term, subject, created_seq) DO UPDATE SET frequency = excluded.frequency
), moved AS (
    UPDATE search_built SET seq = %(seq)s WHERE tenant_id = %(tenant)s AND seq = %(after)s RETURNING seq
)
INSERT INTO search_built (tenant_id, seq)
SELECT %(tenant)s, %(seq)s WHERE %(after)s = 0 AND NOT EXISTS (SELECT FROM moved)
ON CONFLICT DO NOTHING;

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
