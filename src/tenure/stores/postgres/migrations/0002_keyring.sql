-- The record of forgets: ids, times and links only. It lies with the keys because no backup of the data may hold
-- it: a restore reads from it what was forgotten since. Rows are only ever added.
CREATE TABLE tenure_keys.forget_ledger (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id text NOT NULL,
    seq bigint NOT NULL,
    header text NOT NULL,
    link bytea NOT NULL
);
GRANT SELECT, INSERT ON tenure_keys.forget_ledger TO tenure_app;
