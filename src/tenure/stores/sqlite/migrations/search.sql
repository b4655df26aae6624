-- The word index: plaintext-derived, disposable, rebuilt from the log; never backed up.
CREATE TABLE built (tenant_id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (tenant_id)) WITHOUT ROWID;
CREATE TABLE session (machine_start TEXT NOT NULL, closed INTEGER NOT NULL);
CREATE TABLE boundary (
    id INTEGER PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    purpose TEXT NOT NULL,
    UNIQUE (tenant_id, agent, purpose)
);
CREATE TABLE subject (
    id INTEGER PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    UNIQUE (tenant_id, subject)
);
CREATE TABLE document (
    tenant_id TEXT NOT NULL,
    created_seq INTEGER NOT NULL,
    boundary INTEGER NOT NULL,
    subject INTEGER NOT NULL,
    terms TEXT NOT NULL,
    PRIMARY KEY (tenant_id, created_seq)
) WITHOUT ROWID;
CREATE INDEX document_subject ON document (subject);
CREATE TABLE posting (
    boundary INTEGER NOT NULL,
    term TEXT NOT NULL,
    subject INTEGER NOT NULL,
    created_seq INTEGER NOT NULL,
    frequency INTEGER NOT NULL,
    PRIMARY KEY (boundary, term, subject, created_seq)
) WITHOUT ROWID;
