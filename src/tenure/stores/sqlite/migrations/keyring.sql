-- The keyring: wrapped keys only, in a file of its own that no data backup holds.
CREATE TABLE tenant_key (
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    wrapped BLOB NOT NULL,
    PRIMARY KEY (tenant_id, name, epoch)
) WITHOUT ROWID;
CREATE TABLE subject_key (
    tenant_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    dek BLOB NOT NULL,
    epoch INTEGER NOT NULL,
    wrapped BLOB NOT NULL,
    PRIMARY KEY (tenant_id, subject)
) WITHOUT ROWID;
