-- Evidence and incidents: where memories came from and went to, revoked sources, policies, checkpoints.
ALTER TABLE derivation ADD COLUMN kind TEXT NOT NULL DEFAULT 'derived';
CREATE INDEX derivation_by_child ON derivation (tenant_id, child);

CREATE TABLE provenance (
    tenant_id TEXT NOT NULL,
    source_id TEXT NOT NULL,
    source_type TEXT NOT NULL,
    memory_id BLOB NOT NULL,
    seq INTEGER NOT NULL,
    actor TEXT NOT NULL,
    agent TEXT NOT NULL,
    purpose TEXT NOT NULL,
    subject TEXT NOT NULL,
    PRIMARY KEY (tenant_id, source_id, source_type, memory_id)
) WITHOUT ROWID;
CREATE INDEX provenance_by_actor ON provenance (tenant_id, actor, memory_id);

CREATE TABLE shown (
    tenant_id TEXT NOT NULL,
    memory_id BLOB NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, memory_id, seq)
) WITHOUT ROWID;

CREATE TABLE used (
    tenant_id TEXT NOT NULL,
    memory_id BLOB NOT NULL,
    seq INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, memory_id, seq)
) WITHOUT ROWID;

CREATE TABLE revoked_source (
    tenant_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    source_type TEXT NOT NULL,
    source_id TEXT NOT NULL,
    revoked_at INTEGER NOT NULL,
    finished_seq INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, seq)
) WITHOUT ROWID;
CREATE INDEX revoked_source_begun ON revoked_source (tenant_id, seq) WHERE finished_seq = 0;

CREATE TABLE policy (
    tenant_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    done_seq INTEGER NOT NULL,
    PRIMARY KEY (tenant_id)
) WITHOUT ROWID;

-- Beside the views: what was signed, the roots of full blocks of the Merkle tree, and how far workers got.
CREATE TABLE checkpoint (
    tenant_id TEXT NOT NULL,
    size INTEGER NOT NULL,
    root BLOB NOT NULL,
    note TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, size)
) WITHOUT ROWID;

CREATE TABLE tree_block (
    tenant_id TEXT NOT NULL,
    block INTEGER NOT NULL,
    root BLOB NOT NULL,
    PRIMARY KEY (tenant_id, block)
) WITHOUT ROWID;

CREATE TABLE progress (
    name TEXT NOT NULL,
    tenant_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (name, tenant_id)
) WITHOUT ROWID;

-- Where memories came from and went to only a replay can tell for what was written before.
UPDATE views SET are_replayed = (SELECT count(*) = 0 FROM tenant_head);
