-- The layout of a turn. A turn writes few pages, and most of them are also written by the other
-- turns of the same commit:
--   segments      at its end: the items, the response, the request
--   threads       one page: the record of the thread, and next to it the entry of the segment
--   item_ids      near its end: ids of our own begin with the time
-- A response or a request is found among the entries of its shard, so it needs no index. Two tables
-- summarize the segments: `tenant_usage` and `creations`. They are brought up to date after every
-- 64 segments, and the later ones are read one by one.

ALTER TABLE threads RENAME TO former_threads;
ALTER TABLE openings RENAME TO former_openings;
DROP INDEX threads_by_parent;
DROP TRIGGER items_added;
DROP TRIGGER items_deleted;
DROP TRIGGER items_erased;

-- Consecutive items of a thread that were appended together, and the response that they belong to.
CREATE TABLE segments (
    -- Newer segments have greater numbers.
    number INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    -- The position of the first item in its thread.
    first INTEGER NOT NULL,
    -- The number of live items, and their bytes.
    live INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    -- The response. All NULL if none begins with this segment, or if it was deleted.
    id TEXT,
    -- The conversation that the response belongs to, which may be deleted.
    conversation TEXT,
    created_at INTEGER,
    -- The position of the first item of the output, and one past the last.
    output_from INTEGER,
    end_at INTEGER,
    request BLOB,
    copy_until INTEGER,
    envelope BLOB,
    report BLOB,
    copy BLOB,
    -- The heads and the bytes of the items (`encoding.rs`).
    items BLOB NOT NULL,
    CHECK ((id IS NULL) = (created_at IS NULL))
) STRICT;

CREATE INDEX segments_by_copy ON segments (copy_until) WHERE copy_until IS NOT NULL;

-- The last segment that the summaries cover. Later ones get greater numbers, even if it is deleted.
CREATE TABLE summarized (segment INTEGER NOT NULL) STRICT;
INSERT INTO summarized VALUES (0);

-- The responses by the time of their creation: expiry deletes the oldest first.
CREATE TABLE creations (
    created_at INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    PRIMARY KEY (created_at, segment)
) STRICT, WITHOUT ROWID;

-- Threads, and their segments in order.
CREATE TABLE threads (
    tenant TEXT NOT NULL,
    shard INTEGER NOT NULL,
    thread INTEGER NOT NULL,
    -- The first position of the segment; -1 in the record of the thread itself.
    first INTEGER NOT NULL,
    -- The number of the segment; 0 in the record of the thread itself.
    segment INTEGER NOT NULL,
    -- The number of items of the segment, tombstones included; of live ones; and their bytes.
    held INTEGER NOT NULL,
    live INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    -- If a response begins with the segment: the end of its id and of its request, as numbers, and
    -- one past its last item.
    response INTEGER,
    request INTEGER,
    end_at INTEGER,
    -- The record of the thread. The threads before it, root first: JSON, [[thread, upto], ...].
    lineage TEXT,
    -- The last of the lineage; NULL for a root.
    parent INTEGER,
    -- The first sequence number: the point at which it left the parent.
    base INTEGER,
    -- One past the greatest sequence number ever assigned. Numbers are never reused.
    tip INTEGER,
    -- Whether a conversation names it, or did so in the past.
    named INTEGER,
    -- The last turn, if nothing was appended after it: the request that it answers, and its start.
    last_request BLOB,
    last_from INTEGER,
    PRIMARY KEY (tenant, shard, thread, first, segment),
    CHECK ((lineage IS NULL) = (tip IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX threads_by_parent ON threads (tenant, shard, parent, base) WHERE parent IS NOT NULL;

-- The places of each item id of a tenant.
CREATE TABLE item_ids (
    tenant TEXT NOT NULL,
    -- The item id with its first part, up to an underscore, moved to its end: `msg_1` is `1_msg`.
    -- So ids of one time are neighbours, whatever the kinds of their items.
    id TEXT NOT NULL,
    shard INTEGER NOT NULL,
    thread INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    -- Orders the copies of one item id of a tenant: the newest has the greatest number.
    copy INTEGER NOT NULL,
    -- 1: live; 2: its bytes are in this store; 4: a model generated it.
    flags INTEGER NOT NULL,
    PRIMARY KEY (tenant, id, shard, thread, seq)
) STRICT, WITHOUT ROWID;

-- Pending turns: announced and not ended.
CREATE TABLE pending_turns (
    -- The shard, with its last 16 bits replaced by a number that is free: the turns of a shard are
    -- found without an index.
    place INTEGER PRIMARY KEY,
    -- Turns that were recorded later have greater ordinals.
    ordinal INTEGER NOT NULL,
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
    request BLOB,
    copy_until INTEGER,
    envelope BLOB NOT NULL,
    report BLOB NOT NULL,
    copy BLOB,
    -- The input, as in `segments`.
    items BLOB NOT NULL,
    CHECK ((into_conversation IS NULL) = (thread IS NOT NULL)),
    CHECK ((after IS NULL) = (fork IS NULL))
) STRICT;
