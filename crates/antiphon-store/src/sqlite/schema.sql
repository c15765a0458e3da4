PRAGMA application_id = 0x416e7470;

-- Unsigned 64-bit ids (shards, threads) are stored as the signed integers with the same bits.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE threads (
    tenant TEXT NOT NULL,
    shard INTEGER NOT NULL,
    thread INTEGER NOT NULL,
    -- The threads before this one, root first: JSON, [[thread, upto], ...].
    lineage TEXT NOT NULL,
    -- The last of the lineage; NULL for a root.
    parent INTEGER,
    -- The first sequence number: the point at which it left the parent.
    base INTEGER NOT NULL,
    -- One past the greatest sequence number ever assigned. Numbers are never reused.
    tip INTEGER NOT NULL,
    -- Whether a conversation names it, or did so in the past.
    named INTEGER NOT NULL,
    PRIMARY KEY (tenant, shard, thread)
) STRICT, WITHOUT ROWID;

CREATE INDEX threads_by_parent ON threads (tenant, shard, parent, base) WHERE parent IS NOT NULL;

CREATE TABLE items (
    tenant TEXT NOT NULL,
    shard INTEGER NOT NULL,
    thread INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    item_id TEXT NOT NULL,
    -- The id inside the bytes, if it differs from item_id.
    own_id TEXT,
    kind TEXT NOT NULL,
    call_id TEXT,
    role TEXT,
    flags INTEGER NOT NULL,
    fingerprint BLOB,
    origin TEXT,
    -- NULL for a tombstone.
    body BLOB,
    -- Orders the copies of one item id of a tenant: the newest has the greatest number.
    copy INTEGER NOT NULL,
    PRIMARY KEY (tenant, shard, thread, seq)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX items_live ON items (tenant, shard, thread, item_id) WHERE body IS NOT NULL;
CREATE INDEX items_by_id ON items (tenant, item_id, copy) WHERE body IS NOT NULL;

CREATE TABLE conversations (
    tenant TEXT NOT NULL,
    shard INTEGER NOT NULL,
    id TEXT NOT NULL,
    thread INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    metadata BLOB NOT NULL,
    PRIMARY KEY (tenant, shard, id)
) STRICT;

CREATE INDEX conversations_by_thread ON conversations (tenant, shard, thread);

CREATE TABLE responses (
    tenant TEXT NOT NULL,
    shard INTEGER NOT NULL,
    id TEXT NOT NULL,
    thread INTEGER NOT NULL,
    input_from INTEGER NOT NULL,
    output_from INTEGER NOT NULL,
    end_at INTEGER NOT NULL,
    -- The conversation that it belongs to, which may be deleted.
    conversation TEXT,
    created_at INTEGER NOT NULL,
    envelope BLOB NOT NULL,
    report BLOB NOT NULL,
    PRIMARY KEY (tenant, shard, id)
) STRICT;

CREATE INDEX responses_by_thread ON responses (tenant, shard, thread, end_at);

-- Pending turns: announced and not ended, in the order in which they were recorded.
CREATE TABLE openings (
    ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    shard INTEGER NOT NULL,
    id TEXT NOT NULL,
    -- The destination of its items: a conversation; or after (thread, after), if need be in the
    -- thread `fork`; or a new thread.
    into_conversation TEXT,
    thread INTEGER,
    after INTEGER,
    fork INTEGER,
    conversation TEXT,
    created_at INTEGER NOT NULL,
    envelope BLOB NOT NULL,
    report BLOB NOT NULL,
    UNIQUE (tenant, shard, id),
    CHECK ((into_conversation IS NULL) = (thread IS NOT NULL)),
    CHECK ((after IS NULL) = (fork IS NULL))
) STRICT;

CREATE INDEX openings_by_thread ON openings (tenant, shard, thread, after) WHERE after IS NOT NULL;

CREATE TABLE opening_items (
    opening INTEGER NOT NULL,
    position INTEGER NOT NULL,
    item_id TEXT NOT NULL,
    own_id TEXT,
    kind TEXT NOT NULL,
    call_id TEXT,
    role TEXT,
    flags INTEGER NOT NULL,
    fingerprint BLOB,
    origin TEXT,
    body BLOB,
    PRIMARY KEY (opening, position)
) STRICT, WITHOUT ROWID;
