-- Search data that also has keys, versions and vectors; it starts anew, and is built from the log.
DELETE FROM built;
DELETE FROM posting;
DELETE FROM boundary;
DELETE FROM subject;
DROP TABLE document;
CREATE TABLE document (
    tenant_id TEXT NOT NULL,
    created_seq INTEGER NOT NULL,
    boundary INTEGER NOT NULL,
    subject INTEGER NOT NULL,
    version INTEGER NOT NULL,
    key TEXT,
    terms TEXT NOT NULL,
    PRIMARY KEY (tenant_id, created_seq)
) WITHOUT ROWID;
CREATE INDEX document_subject ON document (subject);
CREATE INDEX document_key ON document (boundary, key, created_seq) WHERE key IS NOT NULL;
CREATE TABLE embedding (
    boundary INTEGER NOT NULL,
    subject INTEGER NOT NULL,
    model TEXT NOT NULL,
    created_seq INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (boundary, subject, model, created_seq)
) WITHOUT ROWID;
-- What made the words that are found.
CREATE TABLE analyser (name TEXT PRIMARY KEY) WITHOUT ROWID;
-- The models that there may be vectors of, for a memory's vectors to be found by their key.
CREATE TABLE model (name TEXT PRIMARY KEY) WITHOUT ROWID;
