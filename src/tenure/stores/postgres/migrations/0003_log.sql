-- Evidence and incidents: where memories came from and went to, revoked sources, policies, checkpoints.
ALTER TABLE tenure.derivation ADD COLUMN kind text NOT NULL DEFAULT 'derived';
CREATE INDEX derivation_by_child ON tenure.derivation (tenant_id, child);

CREATE TABLE tenure.provenance (
    tenant_id text NOT NULL,
    source_id text NOT NULL,
    source_type text NOT NULL,
    memory_id uuid NOT NULL,
    seq bigint NOT NULL,
    actor text NOT NULL,
    agent text NOT NULL,
    purpose text NOT NULL,
    subject text NOT NULL,
    PRIMARY KEY (tenant_id, source_id, source_type, memory_id)
);
CREATE INDEX provenance_by_actor ON tenure.provenance (tenant_id, actor, memory_id);

CREATE TABLE tenure.shown (
    tenant_id text NOT NULL,
    memory_id uuid NOT NULL,
    seq bigint NOT NULL,
    PRIMARY KEY (tenant_id, memory_id, seq)
);

CREATE TABLE tenure.used (
    tenant_id text NOT NULL,
    memory_id uuid NOT NULL,
    seq bigint NOT NULL,
    tool_calls integer NOT NULL,
    PRIMARY KEY (tenant_id, memory_id, seq)
);

CREATE TABLE tenure.revoked_source (
    tenant_id text NOT NULL,
    seq bigint NOT NULL,
    source_type text NOT NULL,
    source_id text NOT NULL,
    revoked_at bigint NOT NULL,
    finished_seq bigint NOT NULL,
    PRIMARY KEY (tenant_id, seq)
);

CREATE TABLE tenure.policy (
    tenant_id text NOT NULL,
    seq bigint NOT NULL,
    version text NOT NULL,
    digest text NOT NULL,
    done_seq bigint NOT NULL,
    PRIMARY KEY (tenant_id)
);

-- Beside the views: what was signed, the roots of full blocks of the Merkle tree, and how far workers got.
CREATE TABLE tenure.checkpoint (
    tenant_id text NOT NULL,
    size bigint NOT NULL,
    root bytea NOT NULL,
    note text NOT NULL,
    made_at bigint NOT NULL,
    PRIMARY KEY (tenant_id, size)
);

CREATE TABLE tenure.tree_block (
    tenant_id text NOT NULL,
    block bigint NOT NULL,
    root bytea NOT NULL,
    PRIMARY KEY (tenant_id, block)
);

CREATE TABLE tenure.progress (
    tenant_id text NOT NULL,
    name text NOT NULL,
    seq bigint NOT NULL,
    PRIMARY KEY (tenant_id, name)
);

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['provenance', 'shown', 'used', 'revoked_source', 'policy', 'checkpoint', 'tree_block',
                                'progress'] LOOP
        EXECUTE format('ALTER TABLE tenure.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE tenure.%I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY one_tenant ON tenure.%I USING (tenant_id = nullif(current_setting(''app.tenant'', true), ''''))',
            name
        );
        EXECUTE format('GRANT SELECT, INSERT ON tenure.%I TO tenure_app', name);
    END LOOP;
    FOREACH name IN ARRAY ARRAY['provenance', 'shown', 'used', 'revoked_source', 'policy', 'tree_block', 'progress'] LOOP
        EXECUTE format('GRANT UPDATE, DELETE ON tenure.%I TO tenure_app', name);
    END LOOP;
END $$;

-- Where memories came from and went to only a replay can tell for what was written before.
UPDATE tenure.schema_version SET views_are_replayed = (version = 0);
