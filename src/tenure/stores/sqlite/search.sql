-- name: built
-- Up to which position the word index is built, for each tenant.
SELECT tenant_id, seq FROM built;

-- name: put_built
-- The word index is built up to this position.
INSERT OR REPLACE INTO built (tenant_id, seq) VALUES (?, ?);

-- name: find_boundary
-- The number of a boundary.
SELECT id FROM boundary WHERE tenant_id = ? AND agent = ? AND purpose = ?;

-- name: new_boundary
-- A number for a boundary.
INSERT INTO boundary (tenant_id, agent, purpose) VALUES (?, ?, ?);

-- name: find_subject
-- The number of a subject.
SELECT id FROM subject WHERE tenant_id = ? AND subject = ?;

-- name: new_subject
-- A number for a subject.
INSERT INTO subject (tenant_id, subject) VALUES (?, ?);

-- name: document
-- Which terms a memory is found by.
SELECT boundary, subject, key, terms FROM document WHERE tenant_id = ? AND created_seq = ?;

-- name: documents_of_subject
-- Which memories of a subject are found by which terms.
SELECT created_seq, boundary, terms FROM document WHERE subject = ?;

-- name: put_document
-- The terms that a memory is found by.
INSERT OR REPLACE INTO document (tenant_id, created_seq, boundary, subject, version, key, terms)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: put_vector
-- What a memory means by a model.
INSERT OR REPLACE INTO embedding (boundary, subject, model, created_seq, vector) VALUES (?, ?, ?, ?, ?);

-- name: put_vector_of_version
-- What a memory means by a model, if it still says what was embedded.
INSERT OR REPLACE INTO embedding (boundary, subject, model, created_seq, vector)
SELECT boundary, subject, :model, created_seq, :vector FROM document
WHERE tenant_id = :tenant AND created_seq = :created_seq AND version = :version;

-- name: drop_vectors
-- A memory means nothing any more, by whatever model.
DELETE FROM embedding
WHERE boundary = ? AND subject = ? AND model IN (SELECT name FROM model) AND created_seq = ?;

-- name: drop_models
-- Only the vectors of this model stay.
DELETE FROM embedding
WHERE boundary IN (SELECT id FROM boundary WHERE tenant_id = ?) AND model <> ?;

-- name: put_model
-- There may be vectors of this model.
INSERT OR IGNORE INTO model (name) VALUES (?);

-- name: made_by
-- What made the words that are found.
SELECT name FROM analyser;

-- name: forget_analyser
-- Another makes them from now on.
DELETE FROM analyser;

-- name: put_analyser
-- This makes them from now on.
INSERT INTO analyser (name) VALUES (?);

-- name: clear_vectors
-- Start anew.
DELETE FROM embedding;

-- name: put_posting
-- One term of one memory.
INSERT OR REPLACE INTO posting (boundary, term, subject, created_seq, frequency) VALUES (?, ?, ?, ?, ?);

-- name: drop_posting
-- One term of one memory is found no more.
DELETE FROM posting WHERE boundary = ? AND term = ? AND subject = ? AND created_seq = ?;

-- name: drop_document
-- A memory is found no more.
DELETE FROM document WHERE tenant_id = ? AND created_seq = ?;

-- name: drop_subject
-- A subject has no number any more.
DELETE FROM subject WHERE id = ?;

-- name: open_session
-- The index is in use since this start of the machine.
INSERT INTO session (machine_start, closed) VALUES (?, 0);

-- name: last_session
-- Whether the last use ended in order, and in which start of the machine it began.
SELECT machine_start, closed FROM session;

-- name: clear_session
-- Forget earlier uses.
DELETE FROM session;

-- name: close_session
-- The use ended in order.
UPDATE session SET closed = 1;

-- name: clear_postings
-- Start anew.
DELETE FROM posting;

-- name: clear_documents
-- Start anew.
DELETE FROM document;

-- name: clear_boundaries
-- Start anew.
DELETE FROM boundary;

-- name: clear_subjects
-- Start anew.
DELETE FROM subject;

-- name: clear_built
-- Start anew.
DELETE FROM built;

-- name: words_of_one
-- A memory that is found by exactly these words.
SELECT 1 FROM document WHERE terms = ? LIMIT 1;
