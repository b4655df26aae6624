-- The keyring: wrapped keys only, in a schema (or a database) of its own that no backup of the data holds.
CREATE TABLE tenure_keys.tenant_key (
    tenant_id text NOT NULL,
    name text NOT NULL,
    epoch integer NOT NULL,
    wrapped bytea NOT NULL,
    PRIMARY KEY (tenant_id, name, epoch)
);
CREATE TABLE tenure_keys.subject_key (
    tenant_id text NOT NULL,
    subject text NOT NULL,
    dek uuid NOT NULL,
    epoch integer NOT NULL,
    wrapped bytea NOT NULL,
    PRIMARY KEY (tenant_id, subject)
);
GRANT USAGE ON SCHEMA tenure_keys TO tenure_app;
GRANT SELECT, INSERT, DELETE ON tenure_keys.tenant_key, tenure_keys.subject_key TO tenure_app;
