-- Background responses, oldest first: the data to restart each job, and its state.
CREATE TABLE jobs (
    ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    shard INTEGER NOT NULL,
    id TEXT NOT NULL,
    -- Whether this process works on the job.
    held INTEGER NOT NULL,
    -- The number of times the job was taken up again.
    times INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    request BLOB NOT NULL,
    -- The data to restart the job; NULL once it has ended.
    work BLOB,
    -- The point that the job continues from, once known: it keeps items below (thread, after).
    thread INTEGER,
    after INTEGER,
    -- The expiry of the job's events, in Unix seconds; NULL while the job is open.
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
