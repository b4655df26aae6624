-- A subject may have keys that nothing more is sealed under: they open what they sealed until they are destroyed.
ALTER TABLE subject_key RENAME TO earlier_subject_key;
CREATE TABLE subject_key (
    tenant_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    dek BLOB NOT NULL,
    epoch INTEGER NOT NULL,
    wrapped BLOB NOT NULL,
    retired INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, subject, dek)
) WITHOUT ROWID;
CREATE UNIQUE INDEX subject_key_in_use ON subject_key (tenant_id, subject) WHERE retired = 0;
INSERT INTO subject_key (tenant_id, subject, dek, epoch, wrapped)
SELECT tenant_id, subject, dek, epoch, wrapped FROM earlier_subject_key;
DROP TABLE earlier_subject_key;
