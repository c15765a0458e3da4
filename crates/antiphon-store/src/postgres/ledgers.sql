-- What providers call the conversations and responses that they keep. Their ids may be longer than an
-- index takes: digests stand for them.
CREATE TABLE ledgers (
    tenant text COLLATE "C" NOT NULL,
    name bytea NOT NULL,
    provider_id bytea NOT NULL CHECK (provider_id <> ''),
    upstream text COLLATE "C" NOT NULL,
    shard bigint NOT NULL,
    -- The id here, of a conversation or of a response, which need not have a record.
    kept text COLLATE "C" NOT NULL,
    -- Whether the provider may hold something else than what is held here.
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
