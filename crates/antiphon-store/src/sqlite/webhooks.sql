-- Messages for external endpoints. None is due while its turn is open. An attempt claims a message
-- by moving its due time.
CREATE TABLE notices (
    tenant TEXT NOT NULL,
    shard INTEGER NOT NULL,
    response TEXT NOT NULL,
    id TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    is_open INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    body BLOB NOT NULL,
    PRIMARY KEY (tenant, shard, response, id, endpoint)
) STRICT, WITHOUT ROWID;

CREATE INDEX notices_by_time ON notices (due_at) WHERE NOT is_open;
