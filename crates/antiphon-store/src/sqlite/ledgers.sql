-- What providers call the conversations and responses that they keep.
CREATE TABLE ledgers (
    tenant TEXT NOT NULL,
    provider_id TEXT NOT NULL CHECK (provider_id <> ''),
    upstream TEXT NOT NULL,
    shard INTEGER NOT NULL,
    -- The id here, of a conversation or of a response, which need not have a record.
    kept TEXT NOT NULL,
    -- Whether the provider may hold something else than what is held here.
    in_doubt INTEGER NOT NULL,
    PRIMARY KEY (tenant, provider_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX ledgers_by_kept ON ledgers (tenant, shard, kept);
