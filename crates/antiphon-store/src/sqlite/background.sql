-- Background responses, the older first: what begins them anew, and how they stand.
CREATE TABLE jobs (
    ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    shard INTEGER NOT NULL,
    id TEXT NOT NULL,
    -- Whether the process works on it.
    held INTEGER NOT NULL,
    -- How often it was taken up again.
    times INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    request BLOB NOT NULL,
    -- What begins it anew; NULL once it has ended.
    work BLOB,
    -- Where it goes on from, once that is known: it reaches as far as (thread, after).
    thread INTEGER,
    after INTEGER,
    -- When its events go, in Unix seconds; NULL while it is open.
    expires_at INTEGER,
    UNIQUE (tenant, shard, id),
    CHECK ((work IS NULL) = (expires_at IS NOT NULL))
) STRICT;

CREATE INDEX jobs_open ON jobs (tenant, shard, request) WHERE expires_at IS NULL;
CREATE INDEX jobs_by_thread ON jobs (tenant, shard, thread, after)
    WHERE expires_at IS NULL AND after IS NOT NULL;
CREATE INDEX jobs_ended ON jobs (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE events (
    tenant TEXT NOT NULL,
    shard INTEGER NOT NULL,
    response TEXT NOT NULL,
    sequence_number INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (tenant, shard, response, sequence_number)
) STRICT, WITHOUT ROWID;
