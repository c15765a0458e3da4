-- Unsigned 64-bit ids (shards, threads) are stored as the signed integers with the same bits. Texts
-- from clients (item ids, types, call ids) are stored as bytes, because PostgreSQL's text type
-- cannot contain U+0000.

-- Each sequence yields increasing numbers.
CREATE SEQUENCE copies;
CREATE SEQUENCE ordinals;
CREATE SEQUENCE places;

CREATE TABLE kept (
    name text COLLATE "C" PRIMARY KEY,
    value bytea NOT NULL
);

CREATE TABLE threads (
    tenant text COLLATE "C" NOT NULL,
    shard bigint NOT NULL,
    thread bigint NOT NULL,
    -- The threads before this one, root first, and the position up to which each counts.
    lineage bigint[] NOT NULL,
    uptos bigint[] NOT NULL,
    -- The last of the lineage; NULL for a root.
    parent bigint,
    -- The first sequence number: the point at which it left the parent.
    base bigint NOT NULL,
    -- One past the greatest sequence number ever assigned. Numbers are never reused.
    tip bigint NOT NULL,
    -- Whether a conversation names it, or did so in the past.
    named boolean NOT NULL,
    -- The last turn of a conversation's thread, if nothing was appended after it: the request that
    -- it answers, and its start.
    last_request bytea,
    last_from bigint,
    PRIMARY KEY (tenant, shard, thread)
) PARTITION BY HASH (tenant, shard);

CREATE INDEX threads_by_parent ON threads (tenant, shard, parent, base) WHERE parent IS NOT NULL;

CREATE TABLE items (
    tenant text COLLATE "C" NOT NULL,
    shard bigint NOT NULL,
    thread bigint NOT NULL,
    seq bigint NOT NULL,
    item_id bytea NOT NULL,
    -- The id inside the bytes, if it differs from item_id.
    own_id bytea,
    kind bytea NOT NULL,
    call_id bytea,
    role text,
    flags bigint NOT NULL,
    fingerprint bytea,
    origin bytea,
    -- NULL for a tombstone.
    body bytea,
    -- Orders the copies of one item id of a tenant: the newest has the greatest number.
    copy bigint NOT NULL,
    PRIMARY KEY (tenant, shard, thread, seq)
) PARTITION BY HASH (tenant, shard);

-- An id may be too long for an index, so its digest is the key.
CREATE UNIQUE INDEX items_live ON items (tenant, shard, thread, sha256(item_id))
    WHERE body IS NOT NULL;

-- The locations of an item's copies, in any shard.
CREATE TABLE item_places (
    tenant text COLLATE "C" NOT NULL,
    item bytea NOT NULL,
    copy bigint NOT NULL,
    shard bigint NOT NULL,
    thread bigint NOT NULL,
    seq bigint NOT NULL,
    PRIMARY KEY (tenant, item, copy)
) PARTITION BY HASH (tenant, item);

CREATE TABLE conversations (
    tenant text COLLATE "C" NOT NULL,
    shard bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    thread bigint NOT NULL,
    created_at bigint NOT NULL,
    metadata bytea NOT NULL,
    PRIMARY KEY (tenant, shard, id)
) PARTITION BY HASH (tenant, shard);

CREATE INDEX conversations_by_thread ON conversations (tenant, shard, thread);

CREATE TABLE responses (
    tenant text COLLATE "C" NOT NULL,
    shard bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    thread bigint NOT NULL,
    input_from bigint NOT NULL,
    output_from bigint NOT NULL,
    end_at bigint NOT NULL,
    -- The conversation that it belongs to, which may be deleted.
    conversation text COLLATE "C",
    created_at bigint NOT NULL,
    envelope bytea NOT NULL,
    report bytea NOT NULL,
    request bytea,
    ordinal bigint NOT NULL DEFAULT nextval('ordinals'),
    PRIMARY KEY (tenant, shard, id)
) PARTITION BY HASH (tenant, shard);

CREATE INDEX responses_by_thread ON responses (tenant, shard, thread, end_at);
CREATE INDEX responses_by_request ON responses (tenant, shard, request, created_at)
    WHERE request IS NOT NULL;

DO $$
DECLARE
    parent text;
BEGIN
    FOREACH parent IN ARRAY
        ARRAY['threads', 'items', 'item_places', 'conversations', 'responses']
    LOOP
        FOR part IN 0..15 LOOP
            EXECUTE format(
                'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
                parent || '_' || part, parent, part
            );
        END LOOP;
    END LOOP;
END
$$;

-- The processes that have the store open. A process is dead once its lease has expired.
CREATE TABLE holders (
    id text COLLATE "C" PRIMARY KEY,
    expires_at timestamptz NOT NULL
);

-- The connections of the processes, and the number of transactions that each has committed. The
-- number shows whether a commit succeeded if its answer was lost.
CREATE TABLE sessions (
    id text COLLATE "C" PRIMARY KEY,
    holder text COLLATE "C" NOT NULL,
    commits bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE INDEX sessions_by_holder ON sessions (holder);

-- Pending turns: announced and not ended, in the order in which they were recorded.
CREATE TABLE openings (
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
    envelope bytea NOT NULL,
    report bytea NOT NULL,
    request bytea,
    PRIMARY KEY (tenant, shard, id),
    CHECK ((into_conversation IS NULL) = (thread IS NOT NULL)),
    CHECK ((after IS NULL) = (fork IS NULL))
);

CREATE INDEX openings_by_thread ON openings (tenant, shard, thread, after)
    WHERE after IS NOT NULL;
CREATE INDEX openings_by_request ON openings (tenant, shard, request) WHERE request IS NOT NULL;
CREATE INDEX openings_by_holder ON openings (holder, ordinal);

CREATE TABLE opening_items (
    tenant text COLLATE "C" NOT NULL,
    shard bigint NOT NULL,
    opening text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    item_id bytea NOT NULL,
    own_id bytea,
    kind bytea NOT NULL,
    call_id bytea,
    role text,
    flags bigint NOT NULL,
    fingerprint bytea,
    origin bytea,
    body bytea,
    PRIMARY KEY (tenant, shard, opening, position)
);

-- The places in the queues of conversations.
CREATE TABLE leases (
    tenant text COLLATE "C" NOT NULL,
    shard bigint NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    place bigint NOT NULL,
    holder text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, shard, conversation, place)
);

CREATE INDEX leases_by_holder ON leases (holder, place);
