-- Forgetting for good: floors with their time and subject, scopes, holds, erasures, derivations and alerts.
ALTER TABLE event ADD COLUMN subject TEXT;
UPDATE event SET subject = header ->> 'subject';
CREATE INDEX event_subject ON event (tenant_id, subject, seq, version, stream_id) WHERE subject IS NOT NULL;

DROP INDEX memory_by_key;
CREATE INDEX memory_by_key ON memory (tenant_id, key_digest, agent, purpose, subject) WHERE key_digest IS NOT NULL;
CREATE INDEX memory_ended ON memory (expires_at) WHERE scope_tier IN ('task', 'session') AND status = 'expired';

ALTER TABLE forget_floor RENAME TO earlier_floor;
CREATE TABLE forget_floor (
    tenant_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    target_kind TEXT NOT NULL,
    target TEXT NOT NULL,
    floor_seq INTEGER NOT NULL,
    floor_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, subject, target_kind, target)
) WITHOUT ROWID;
CREATE INDEX forget_floor_by_seq ON forget_floor (tenant_id, floor_seq);

INSERT INTO forget_floor (tenant_id, subject, target_kind, target, floor_seq, floor_at)
SELECT f.tenant_id, f.target, f.target_kind, f.target, f.floor_seq,
       CAST(strftime('%s', e.header ->> 'at') AS INTEGER) * 1000000
           + CAST(substr(substr(e.header ->> 'at', 21) || '000000', 1, 6) AS INTEGER)
FROM earlier_floor AS f JOIN event AS e ON e.tenant_id = f.tenant_id AND e.seq = f.floor_seq;
DROP TABLE earlier_floor;

CREATE TABLE suppression (
    tenant_id TEXT NOT NULL,
    forget_id BLOB NOT NULL,
    subject TEXT NOT NULL,
    agent TEXT NOT NULL,
    purpose TEXT NOT NULL,
    key_digest BLOB NOT NULL,
    scope TEXT NOT NULL,
    place TEXT NOT NULL,
    seq INTEGER NOT NULL,
    holds_until INTEGER NOT NULL,
    probe_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, forget_id)
) WITHOUT ROWID;
CREATE INDEX suppression_by_subject ON suppression (tenant_id, subject);
CREATE INDEX suppression_due ON suppression (probe_at);

CREATE TABLE hold (
    tenant_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    placed_seq INTEGER NOT NULL,
    placed_by TEXT NOT NULL,
    placed_at INTEGER NOT NULL,
    review_at INTEGER,
    PRIMARY KEY (tenant_id, subject)
) WITHOUT ROWID;

CREATE TABLE erasure (
    tenant_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    erasure_id BLOB NOT NULL,
    begun_seq INTEGER NOT NULL,
    done_seq INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, subject)
) WITHOUT ROWID;
CREATE INDEX erasure_begun ON erasure (tenant_id) WHERE done_seq = 0;

CREATE TABLE derivation (
    tenant_id TEXT NOT NULL,
    parent BLOB NOT NULL,
    child BLOB NOT NULL,
    subject TEXT NOT NULL,
    PRIMARY KEY (tenant_id, parent, child)
) WITHOUT ROWID;
CREATE INDEX derivation_by_subject ON derivation (tenant_id, subject);

CREATE TABLE alert (
    tenant_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    subject TEXT NOT NULL,
    kind TEXT NOT NULL,
    message TEXT NOT NULL,
    about TEXT,
    raised_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, seq)
) WITHOUT ROWID;

-- What is sealed only a replay can tell: the floors of values that were forgotten or rejected before.
CREATE TABLE views (are_replayed INTEGER NOT NULL);
INSERT INTO views SELECT count(*) = 0 FROM tenant_head;
