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
-- One tenant at a time for the program; with none set, only the key without a tenant that a root key is checked by.
-- Not forced: the owner dumps the keys, and with the wall before it a dump would hold none of them.
ALTER TABLE tenure_keys.tenant_key ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON tenure_keys.tenant_key USING (tenant_id = coalesce(current_setting('app.tenant', true), ''));
ALTER TABLE tenure_keys.subject_key ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON tenure_keys.subject_key USING (tenant_id = coalesce(current_setting('app.tenant', true), ''));
