-- The record of forgets: ids, times and links only. It lies with the keys because no backup of the data may hold
-- it: a restore reads from it what was forgotten since. Rows are only ever added: one that says so takes back
-- those before it with its link.
CREATE TABLE tenure_keys.forget_ledger (
    tenant_id text NOT NULL,
    position bigint GENERATED ALWAYS AS IDENTITY,
    seq bigint NOT NULL,
    header text NOT NULL,
    link bytea NOT NULL,
    is_withdrawn boolean NOT NULL,
    PRIMARY KEY (tenant_id, position)
);
CREATE INDEX forget_withdrawn ON tenure_keys.forget_ledger (tenant_id, link, position) WHERE is_withdrawn;
-- Not forced, since a restore reads the forgets of all tenants, as the owner.
ALTER TABLE tenure_keys.forget_ledger ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON tenure_keys.forget_ledger
    USING (tenant_id = nullif(current_setting('app.tenant', true), ''));
GRANT SELECT, INSERT ON tenure_keys.forget_ledger TO tenure_app;
