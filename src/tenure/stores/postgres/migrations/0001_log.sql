-- The log, its views, its idempotency keys and its word index. Forward only; see stores/postgres/schema.py.
-- Every key begins with the tenant, so that the schema distributes by tenant unchanged.
CREATE TABLE tenure.tenant (tenant_id text PRIMARY KEY);

CREATE TABLE tenure.tenant_head (
    tenant_id text PRIMARY KEY,
    seq bigint NOT NULL,
    link bytea NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE tenure.event (
    tenant_id text NOT NULL,
    seq bigint NOT NULL,
    stream_id uuid,
    version integer,
    header text NOT NULL,
    body bytea,
    link bytea NOT NULL,
    PRIMARY KEY (tenant_id, seq)
);
CREATE UNIQUE INDEX event_stream ON tenure.event (tenant_id, stream_id, version) WHERE stream_id IS NOT NULL;

CREATE TABLE tenure.idem (
    tenant_id text NOT NULL,
    key text NOT NULL,
    request bytea NOT NULL,
    seq bigint NOT NULL,
    outcome bytea NOT NULL,
    PRIMARY KEY (tenant_id, key)
);

CREATE TABLE tenure.memory (
    tenant_id text NOT NULL,
    created_seq bigint NOT NULL,
    memory_id uuid NOT NULL,
    agent text NOT NULL,
    purpose text NOT NULL,
    subject text NOT NULL,
    scope_tier text NOT NULL,
    scope_id text NOT NULL,
    kind text NOT NULL,
    status text NOT NULL,
    trust integer NOT NULL,
    confidence double precision NOT NULL,
    source_type text NOT NULL,
    source_id text NOT NULL,
    thread text,
    position bigint,
    key_digest bytea,
    fingerprint bytea,
    written_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    valid_from bigint NOT NULL,
    valid_to bigint NOT NULL,
    version integer NOT NULL,
    tokens integer NOT NULL,
    PRIMARY KEY (tenant_id, created_seq)
);
CREATE UNIQUE INDEX memory_by_id ON tenure.memory (tenant_id, memory_id);
CREATE INDEX memory_by_subject ON tenure.memory (tenant_id, subject, agent, purpose, status, created_seq);
CREATE INDEX memory_by_boundary ON tenure.memory (tenant_id, agent, purpose, status, created_seq);
CREATE INDEX memory_by_key ON tenure.memory (tenant_id, key_digest) WHERE key_digest IS NOT NULL;
CREATE INDEX memory_due ON tenure.memory (tenant_id, expires_at) WHERE status IN ('active', 'quarantined');

CREATE TABLE tenure.forget_floor (
    tenant_id text NOT NULL,
    target_kind text NOT NULL,
    target text NOT NULL,
    floor_seq bigint NOT NULL,
    PRIMARY KEY (tenant_id, target_kind, target)
);

CREATE TABLE tenure.caller_key (
    tenant_id text NOT NULL,
    key_id uuid NOT NULL,
    name text NOT NULL,
    grants text NOT NULL,
    secret_hash bytea NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint,
    PRIMARY KEY (tenant_id, key_id)
);

-- Plaintext-derived: never in the write-ahead log nor in a base backup; empty after a crash, and then built anew.
CREATE UNLOGGED TABLE tenure.search_built (tenant_id text PRIMARY KEY, seq bigint NOT NULL);
CREATE UNLOGGED TABLE tenure.document (
    tenant_id text NOT NULL,
    created_seq bigint NOT NULL,
    boundary bigint NOT NULL,
    subject bigint NOT NULL,
    terms text[] NOT NULL,
    PRIMARY KEY (tenant_id, created_seq)
);
CREATE INDEX document_subject ON tenure.document (tenant_id, subject);
CREATE UNLOGGED TABLE tenure.posting (
    tenant_id text NOT NULL,
    boundary bigint NOT NULL,
    term text NOT NULL,
    subject bigint NOT NULL,
    created_seq bigint NOT NULL,
    frequency integer NOT NULL,
    PRIMARY KEY (tenant_id, boundary, term, subject, created_seq)
);

-- Who does what only one node of many does, and until when.
CREATE TABLE tenure.lease (name text PRIMARY KEY, holder text NOT NULL, held_until timestamptz NOT NULL);

-- The net under the filters: a statement that forgets its tenant finds nothing.
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['tenant_head', 'event', 'idem', 'memory', 'forget_floor', 'caller_key',
                                'search_built', 'document', 'posting'] LOOP
        EXECUTE format('ALTER TABLE tenure.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE tenure.%I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY one_tenant ON tenure.%I USING (tenant_id = nullif(current_setting(''app.tenant'', true), ''''))',
            name
        );
    END LOOP;
END $$;

-- The program's role owns nothing. Events are only ever added.
GRANT USAGE ON SCHEMA tenure TO tenure_app;
GRANT SELECT, INSERT ON tenure.tenant, tenure.event, tenure.idem TO tenure_app;
GRANT SELECT, INSERT, UPDATE ON tenure.tenant_head, tenure.forget_floor, tenure.caller_key, tenure.lease TO tenure_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON tenure.memory, tenure.search_built, tenure.document, tenure.posting
    TO tenure_app;
-- A rebuild that finds a view different replaces its rows.
GRANT DELETE ON tenure.forget_floor, tenure.caller_key TO tenure_app;
-- A node that closes leaves no lease behind.
GRANT DELETE ON tenure.lease TO tenure_app;
