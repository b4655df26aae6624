-- Keeping memory true: what memories claim something of, how many say so, and which cannot both be true.
-- One memory may be made from another and stand behind it as well, so that the kind tells edges apart.
ALTER TABLE tenure.derivation
    ALTER COLUMN kind DROP DEFAULT,
    DROP CONSTRAINT derivation_pkey,
    ADD PRIMARY KEY (tenant_id, parent, child, kind);
CREATE INDEX derivation_merged ON tenure.derivation (tenant_id, parent, child) WHERE kind = 'merged';
-- Of those few whose memory was revoked or expired, what stands behind them may stand again.
CREATE INDEX memory_fallen ON tenure.memory (tenant_id, memory_id)
    WHERE status IN ('revoked', 'revoking', 'expired');

CREATE TABLE tenure.thing (
    tenant_id text NOT NULL,
    thing bytea NOT NULL,
    memory_id uuid NOT NULL,
    subject text NOT NULL,
    PRIMARY KEY (tenant_id, thing, memory_id)
);
CREATE INDEX thing_by_memory ON tenure.thing (tenant_id, memory_id);
CREATE INDEX thing_by_subject ON tenure.thing (tenant_id, subject, thing);

CREATE TABLE tenure.support (
    tenant_id text NOT NULL,
    memory_id uuid NOT NULL,
    subject text NOT NULL,
    voices integer NOT NULL,
    trusted_voices integer NOT NULL,
    PRIMARY KEY (tenant_id, memory_id)
);
CREATE INDEX support_by_subject ON tenure.support (tenant_id, subject);

CREATE TABLE tenure.contradiction (
    tenant_id text NOT NULL,
    contradiction_id uuid NOT NULL,
    agent text NOT NULL,
    purpose text NOT NULL,
    subject text NOT NULL,
    believed uuid NOT NULL,
    doubted uuid NOT NULL,
    effect text NOT NULL,
    because text NOT NULL,
    valid_to_before bigint NOT NULL,
    found_seq bigint NOT NULL,
    found_at bigint NOT NULL,
    resolved_seq bigint NOT NULL,
    kept uuid,
    PRIMARY KEY (tenant_id, contradiction_id)
);
CREATE INDEX contradiction_by_seq ON tenure.contradiction (tenant_id, found_seq);
CREATE INDEX contradiction_open ON tenure.contradiction (tenant_id, found_seq) WHERE resolved_seq = 0;
CREATE INDEX contradiction_by_believed ON tenure.contradiction (tenant_id, believed);
CREATE INDEX contradiction_by_doubted ON tenure.contradiction (tenant_id, doubted);
CREATE INDEX contradiction_by_subject ON tenure.contradiction (tenant_id, subject);

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['thing', 'support', 'contradiction'] LOOP
        EXECUTE format('ALTER TABLE tenure.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE tenure.%I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY one_tenant ON tenure.%I USING (tenant_id = nullif(current_setting(''app.tenant'', true), ''''))',
            name
        );
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON tenure.%I TO tenure_app', name);
    END LOOP;
END $$;
