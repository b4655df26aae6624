-- Keeping memory true: what memories claim something of, how many say so, and which cannot both be true.
-- One memory may be made from another and stand behind it as well, so that the kind tells edges apart.
ALTER TABLE derivation RENAME TO earlier_derivation;
DROP INDEX derivation_by_subject;
DROP INDEX derivation_by_child;
CREATE TABLE derivation (
    tenant_id TEXT NOT NULL,
    parent BLOB NOT NULL,
    child BLOB NOT NULL,
    subject TEXT NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (tenant_id, parent, child, kind)
) WITHOUT ROWID;
INSERT INTO derivation (tenant_id, parent, child, subject, kind)
SELECT tenant_id, parent, child, subject, kind FROM earlier_derivation;
DROP TABLE earlier_derivation;
CREATE INDEX derivation_by_subject ON derivation (tenant_id, subject);
CREATE INDEX derivation_by_child ON derivation (tenant_id, child);
CREATE INDEX derivation_merged ON derivation (tenant_id, parent, child) WHERE kind = 'merged';
-- Of those few whose memory was revoked or expired, what stands behind them may stand again.
CREATE INDEX memory_fallen ON memory (tenant_id, memory_id) WHERE status IN ('revoked', 'revoking', 'expired');

CREATE TABLE thing (
    tenant_id TEXT NOT NULL,
    thing BLOB NOT NULL,
    memory_id BLOB NOT NULL,
    subject TEXT NOT NULL,
    PRIMARY KEY (tenant_id, thing, memory_id)
) WITHOUT ROWID;
CREATE INDEX thing_by_memory ON thing (tenant_id, memory_id);
CREATE INDEX thing_by_subject ON thing (tenant_id, subject, thing);

CREATE TABLE support (
    tenant_id TEXT NOT NULL,
    memory_id BLOB NOT NULL,
    subject TEXT NOT NULL,
    voices INTEGER NOT NULL,
    trusted_voices INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, memory_id)
) WITHOUT ROWID;
CREATE INDEX support_by_subject ON support (tenant_id, subject);

CREATE TABLE contradiction (
    tenant_id TEXT NOT NULL,
    contradiction_id BLOB NOT NULL,
    agent TEXT NOT NULL,
    purpose TEXT NOT NULL,
    subject TEXT NOT NULL,
    believed BLOB NOT NULL,
    doubted BLOB NOT NULL,
    effect TEXT NOT NULL,
    because TEXT NOT NULL,
    valid_to_before INTEGER NOT NULL,
    found_seq INTEGER NOT NULL,
    found_at INTEGER NOT NULL,
    resolved_seq INTEGER NOT NULL,
    kept BLOB,
    PRIMARY KEY (tenant_id, contradiction_id)
) WITHOUT ROWID;
CREATE INDEX contradiction_by_seq ON contradiction (tenant_id, found_seq);
CREATE INDEX contradiction_open ON contradiction (tenant_id, found_seq) WHERE resolved_seq = 0;
CREATE INDEX contradiction_by_believed ON contradiction (tenant_id, believed);
CREATE INDEX contradiction_by_doubted ON contradiction (tenant_id, doubted);
CREATE INDEX contradiction_by_subject ON contradiction (tenant_id, subject);
