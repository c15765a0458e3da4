-- Unsigned 64-bit ids (shards, threads) are kept as the signed integer of the same bits. What
-- clients wrote (item ids, types, call ids) is kept as bytes: PostgreSQL's text holds no U+0000.

-- Of all numbers ever drawn from one of these, a later one is greater.
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
    -- The threads before this one, root first, and how far each counts.
    lineage bigint[] NOT NULL,
    uptos bigint[] NOT NULL,
    -- The last of the lineage; NULL for a root.
    parent bigint,
    -- The first sequence number: where the parent was forked.
    base bigint NOT NULL,
    -- One past the last sequence number that was ever given. Numbers are not given twice.
    tip bigint NOT NULL,
    -- Whether a conversation names it, or once did.
    named boolean NOT NULL,
    -- The last turn of a conversation's thread, if nothing was added behind it: what it answers,
    -- and where it began.
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
    -- The id that the bytes carry, where it is not the one that the item is held under.
    own_id bytea,
    kind bytea NOT NULL,
    call_id bytea,
    role text,
    flags bigint NOT NULL,
    fingerprint bytea,
    origin bytea,
    -- NULL for a tombstone.
    body bytea,
    -- Orders the copies of one id within a tenant: the newest has the greatest.
    copy bigint NOT NULL,
    PRIMARY KEY (tenant, shard, thread, seq)
) PARTITION BY HASH (tenant, shard);

-- Ids may be longer than an index takes: their digests stand for them.
CREATE UNIQUE INDEX items_live ON items (tenant, shard, thread, sha256(item_id))
    WHERE body IS NOT NULL;

-- Where the live copies of an item are, whatever the shard.
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
    -- The conversation that it was made in, which may be gone.
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

-- The processes that have the store open. One whose time ran out is dead.
CREATE TABLE holders (
    id text COLLATE "C" PRIMARY KEY,
    expires_at timestamptz NOT NULL
);

-- The connections of the processes, and how many transactions each has committed: so a commit whose
-- answer was lost is told from one that did not happen.
CREATE TABLE sessions (
    id text COLLATE "C" PRIMARY KEY,
    holder text COLLATE "C" NOT NULL,
    commits bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE INDEX sessions_by_holder ON sessions (holder);

-- Turns that were announced and have not ended, in the order that they were recorded.
CREATE TABLE openings (
    tenant text COLLATE "C" NOT NULL,
    shard bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    ordinal bigint NOT NULL DEFAULT nextval('ordinals'),
    holder text COLLATE "C" NOT NULL,
    -- Where its items go: into a conversation, behind (thread, after) or to `fork`, or to a new
    -- thread.
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

-- Who stands in line for a conversation.
CREATE TABLE leases (
    tenant text COLLATE "C" NOT NULL,
    shard bigint NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    place bigint NOT NULL,
    holder text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, shard, conversation, place)
);

CREATE INDEX leases_by_holder ON leases (holder, place);
