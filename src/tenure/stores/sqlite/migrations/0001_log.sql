-- The log, its views and its idempotency keys. Forward only; see stores/sqlite/schema.py.
CREATE TABLE tenant_head (
    tenant_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    link BLOB NOT NULL,
    PRIMARY KEY (tenant_id)
) WITHOUT ROWID;

CREATE TABLE event (
    tenant_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    stream_id BLOB,
    version INTEGER,
    header TEXT NOT NULL,
    body BLOB,
    link BLOB NOT NULL,
    UNIQUE (tenant_id, seq)
);
CREATE UNIQUE INDEX event_stream ON event (tenant_id, stream_id, version) WHERE stream_id IS NOT NULL;

CREATE TABLE idem (
    tenant_id TEXT NOT NULL,
    key TEXT NOT NULL,
    request BLOB NOT NULL,
    seq INTEGER NOT NULL,
    outcome BLOB NOT NULL,
    PRIMARY KEY (tenant_id, key)
) WITHOUT ROWID;

CREATE TABLE memory (
    tenant_id TEXT NOT NULL,
    created_seq INTEGER NOT NULL,
    memory_id BLOB NOT NULL,
    agent TEXT NOT NULL,
    purpose TEXT NOT NULL,
    subject TEXT NOT NULL,
    scope_tier TEXT NOT NULL,
    scope_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    trust INTEGER NOT NULL,
    confidence REAL NOT NULL,
    source_type TEXT NOT NULL,
    source_id TEXT NOT NULL,
    thread TEXT,
    position INTEGER,
    key_digest BLOB,
    fingerprint BLOB,
    written_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to INTEGER NOT NULL,
    version INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, created_seq)
) WITHOUT ROWID;
CREATE UNIQUE INDEX memory_by_id ON memory (tenant_id, memory_id);
CREATE INDEX memory_by_subject ON memory (
    tenant_id, subject, agent, purpose, status, created_seq, expires_at, valid_from, valid_to, kind, trust, tokens
);
CREATE INDEX memory_by_boundary ON memory (tenant_id, agent, purpose, status, created_seq);
CREATE INDEX memory_by_key ON memory (tenant_id, key_digest) WHERE key_digest IS NOT NULL;
CREATE INDEX memory_due ON memory (expires_at) WHERE status IN ('active', 'quarantined');

CREATE TABLE forget_floor (
    tenant_id TEXT NOT NULL,
    target_kind TEXT NOT NULL,
    target TEXT NOT NULL,
    floor_seq INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, target_kind, target)
) WITHOUT ROWID;

CREATE TABLE caller_key (
    tenant_id TEXT NOT NULL,
    key_id BLOB NOT NULL,
    name TEXT NOT NULL,
    grants TEXT NOT NULL,
    secret_hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    PRIMARY KEY (tenant_id, key_id)
) WITHOUT ROWID;
