-- The providers' ids of the conversations and responses that they store. An id may be too long for
-- an index, so its digest is the key.
CREATE TABLE ledgers (
    tenant text COLLATE "C" NOT NULL,
    name bytea NOT NULL,
    provider_id bytea NOT NULL CHECK (provider_id <> ''),
    upstream text COLLATE "C" NOT NULL,
    shard bigint NOT NULL,
    -- The local id of a conversation or response. A response may have no record.
    kept text COLLATE "C" NOT NULL,
    -- Whether the provider may hold other items than this store lists.
    in_doubt boolean NOT NULL,
    PRIMARY KEY (tenant, name),
    UNIQUE (tenant, shard, kept)
) PARTITION BY HASH (tenant);

DO $$
BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF ledgers FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
            'ledgers_' || part, part
        );
    END LOOP;
END
$$;
