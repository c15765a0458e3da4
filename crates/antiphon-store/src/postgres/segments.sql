-- The layout of a turn. A turn writes few rows and index entries:
--   segments   its items, its response and its request
--   threads    the end of its thread
--   item_ids   one row for each item; ids of our own begin with the time
-- A response or a request is found among the segments of its shard, so it needs no index of its own.

-- Writers wait until all rows have moved.
SET LOCAL statement_timeout = 0;
LOCK TABLE threads, items, responses, openings, opening_items IN EXCLUSIVE MODE;

-- Consecutive items of a thread that were appended together, and the response that they belong to.
CREATE TABLE segments (
    tenant text COLLATE "C" NOT NULL,
    shard bigint NOT NULL,
    thread bigint NOT NULL,
    -- The position of the first item.
    first bigint NOT NULL,
    -- If a response begins with the segment: the last 64 bits of its id and of its request; else 0.
    response bigint NOT NULL,
    request bigint NOT NULL,
    -- Newer segments have greater numbers.
    number bigint NOT NULL,
    -- The number of items, tombstones included; of live ones; and their bytes.
    held bigint NOT NULL,
    live bigint NOT NULL,
    bytes bigint NOT NULL,
    -- The response. All NULL if none begins with this segment, or if it was deleted.
    id text COLLATE "C",
    -- The conversation that the response belongs to, which may be deleted.
    conversation text COLLATE "C",
    created_at bigint,
    -- The position of the first item of the output, and one past the last.
    output_from bigint,
    end_at bigint,
    digest bytea,
    copy_until bigint,
    envelope bytea,
    report bytea,
    copy bytea,
    -- The heads and the bytes of the items (`encoding.rs`).
    items bytea NOT NULL,
    PRIMARY KEY (tenant, shard, thread, first, response, request, number),
    CHECK ((id IS NULL) = (created_at IS NULL))
) PARTITION BY HASH (tenant, shard);

CREATE INDEX segments_by_creation ON segments (created_at) WHERE created_at IS NOT NULL;
CREATE INDEX segments_by_copy ON segments (copy_until) WHERE copy_until IS NOT NULL;

-- The places of each item id of a tenant.
CREATE TABLE item_ids (
    tenant text COLLATE "C" NOT NULL,
    -- The item id with its first part, up to an underscore, moved to its end: `msg_1` is `1_msg`.
    -- So ids of one time are neighbours. Of a long id, its digest.
    id bytea NOT NULL,
    shard bigint NOT NULL,
    thread bigint NOT NULL,
    -- 0 if the item is live, and the greatest position if it is a tombstone: a thread has an id live
    -- once at most.
    tomb bigint NOT NULL,
    seq bigint NOT NULL,
    -- 1: live; 2: its bytes are in this store; 4: a model generated it.
    flags bigint NOT NULL,
    -- Orders the copies of one item id of a tenant: the newest has the greatest number.
    copy bigint NOT NULL,
    PRIMARY KEY (tenant, id, shard, thread, tomb)
) PARTITION BY HASH (tenant, id);

-- Pending turns: announced and not ended, in the order in which they were recorded. They are few.
CREATE TABLE pending_turns (
    tenant text COLLATE "C" NOT NULL,
    shard bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    ordinal bigint NOT NULL DEFAULT nextval('ordinals'),
    holder text COLLATE "C" NOT NULL,
    -- The destination of its items: a conversation; or after (thread, after), if need be in the
    -- thread `fork`; or a new thread.
    into_conversation text COLLATE "C",
    thread bigint,
    after bigint,
    fork bigint,
    conversation text COLLATE "C",
    created_at bigint NOT NULL,
    request bytea,
    copy_until bigint,
    envelope bytea NOT NULL,
    report bytea NOT NULL,
    copy bytea,
    -- The input, as in `segments`.
    items bytea NOT NULL,
    PRIMARY KEY (tenant, shard, id),
    CHECK ((into_conversation IS NULL) = (thread IS NOT NULL)),
    CHECK ((after IS NULL) = (fork IS NULL))
);

DO $$
DECLARE
    parent text;
    field text;
BEGIN
    -- Values are compressed, and stay in their row as long as it fits on a page. Pieces in a table
    -- of their own would be more rows and index entries.
    FOREACH parent IN ARRAY ARRAY['segments', 'pending_turns'] LOOP
        FOR field IN
            SELECT attname FROM pg_attribute
            WHERE attrelid = to_regclass(parent) AND attnum > 0 AND attstorage = 'x'
        LOOP
            EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET STORAGE MAIN', parent, field);
        END LOOP;
    END LOOP;
    FOREACH parent IN ARRAY ARRAY['segments', 'item_ids'] LOOP
        FOR part IN 0..15 LOOP
            EXECUTE format(
                'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
                parent || '_' || part, parent, part
            );
        END LOOP;
    END LOOP;
    -- Each turn updates the row of its thread, which then stays on its page.
    FOR part IN 0..15 LOOP
        EXECUTE format('ALTER TABLE %I SET (fillfactor = 80)', 'threads_' || part);
    END LOOP;
END
$$;
