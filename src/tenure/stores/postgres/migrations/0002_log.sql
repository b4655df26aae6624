-- Forgetting for good: floors with their time and subject, scopes, holds, erasures, derivations and alerts.
ALTER TABLE tenure.event ADD COLUMN subject text;
ALTER TABLE tenure.event NO FORCE ROW LEVEL SECURITY;
UPDATE tenure.event SET subject = header::json ->> 'subject';
CREATE INDEX event_subject ON tenure.event (tenant_id, subject, seq) WHERE subject IS NOT NULL;

DROP INDEX tenure.memory_by_key;
CREATE INDEX memory_by_key ON tenure.memory (tenant_id, key_digest, agent, purpose, subject)
    WHERE key_digest IS NOT NULL;
CREATE INDEX memory_ended ON tenure.memory (tenant_id, expires_at)
    WHERE scope_tier IN ('task', 'session') AND status = 'expired';

-- Words are never to be in the statistics that the planner keeps: those are logged, and can be dumped.
ALTER TABLE tenure.posting ALTER COLUMN term SET STATISTICS 0;
ALTER TABLE tenure.document ALTER COLUMN terms SET STATISTICS 0;

ALTER TABLE tenure.forget_floor NO FORCE ROW LEVEL SECURITY;
ALTER TABLE tenure.forget_floor ADD COLUMN subject text, ADD COLUMN floor_at bigint;
UPDATE tenure.forget_floor AS f
SET subject = f.target,
    floor_at = (extract(epoch FROM (e.header::json ->> 'at')::timestamptz) * 1000000)::bigint
FROM tenure.event AS e WHERE e.tenant_id = f.tenant_id AND e.seq = f.floor_seq;
ALTER TABLE tenure.forget_floor
    ALTER COLUMN subject SET NOT NULL,
    ALTER COLUMN floor_at SET NOT NULL,
    DROP CONSTRAINT forget_floor_pkey,
    ADD PRIMARY KEY (tenant_id, subject, target_kind, target);
CREATE INDEX forget_floor_by_seq ON tenure.forget_floor (tenant_id, floor_seq);
ALTER TABLE tenure.forget_floor FORCE ROW LEVEL SECURITY;
ALTER TABLE tenure.event FORCE ROW LEVEL SECURITY;

CREATE TABLE tenure.suppression (
    tenant_id text NOT NULL,
    forget_id uuid NOT NULL,
    subject text NOT NULL,
    agent text NOT NULL,
    purpose text NOT NULL,
    key_digest bytea NOT NULL,
    scope text NOT NULL,
    place text NOT NULL,
    seq bigint NOT NULL,
    holds_until bigint NOT NULL,
    probe_at bigint NOT NULL,
    PRIMARY KEY (tenant_id, forget_id)
);
CREATE INDEX suppression_by_subject ON tenure.suppression (tenant_id, subject);
CREATE INDEX suppression_due ON tenure.suppression (tenant_id, probe_at);

CREATE TABLE tenure.hold (
    tenant_id text NOT NULL,
    subject text NOT NULL,
    placed_seq bigint NOT NULL,
    placed_by text NOT NULL,
    placed_at bigint NOT NULL,
    review_at bigint,
    PRIMARY KEY (tenant_id, subject)
);

CREATE TABLE tenure.erasure (
    tenant_id text NOT NULL,
    subject text NOT NULL,
    erasure_id uuid NOT NULL,
    begun_seq bigint NOT NULL,
    done_seq bigint NOT NULL,
    PRIMARY KEY (tenant_id, subject)
);

CREATE TABLE tenure.derivation (
    tenant_id text NOT NULL,
    parent uuid NOT NULL,
    child uuid NOT NULL,
    subject text NOT NULL,
    PRIMARY KEY (tenant_id, parent, child)
);
CREATE INDEX derivation_by_subject ON tenure.derivation (tenant_id, subject);

CREATE TABLE tenure.alert (
    tenant_id text NOT NULL,
    seq bigint NOT NULL,
    subject text NOT NULL,
    kind text NOT NULL,
    message text NOT NULL,
    about text,
    raised_at bigint NOT NULL,
    PRIMARY KEY (tenant_id, seq)
);

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['suppression', 'hold', 'erasure', 'derivation', 'alert'] LOOP
        EXECUTE format('ALTER TABLE tenure.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE tenure.%I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY one_tenant ON tenure.%I USING (tenant_id = nullif(current_setting(''app.tenant'', true), ''''))',
            name
        );
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON tenure.%I TO tenure_app', name);
    END LOOP;
END $$;

-- An erasure takes sealed bodies away; nothing else of an event can ever be changed.
GRANT UPDATE (body) ON tenure.event TO tenure_app;
CREATE FUNCTION tenure.only_taken_away() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.body IS NOT NULL THEN
        RAISE EXCEPTION 'the body of an event can be taken away, never replaced';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER only_taken_away BEFORE UPDATE OF body ON tenure.event
    FOR EACH ROW EXECUTE FUNCTION tenure.only_taken_away();

-- What is sealed only a replay can tell: the floors of values that were forgotten or rejected before.
ALTER TABLE tenure.schema_version ADD COLUMN views_are_replayed boolean NOT NULL DEFAULT true;
UPDATE tenure.schema_version SET views_are_replayed = (version = 0);
