-- A subject may have keys that nothing more is sealed under: they open what they sealed until they are destroyed.
ALTER TABLE tenure_keys.subject_key ADD COLUMN retired boolean NOT NULL DEFAULT false;
ALTER TABLE tenure_keys.subject_key
    DROP CONSTRAINT subject_key_pkey,
    ADD PRIMARY KEY (tenant_id, subject, dek);
CREATE UNIQUE INDEX subject_key_in_use ON tenure_keys.subject_key (tenant_id, subject) WHERE NOT retired;
GRANT UPDATE ON tenure_keys.subject_key, tenure_keys.tenant_key TO tenure_app;
