-- The providers' ids of the conversations and responses that they store.
CREATE TABLE ledgers (
    tenant TEXT NOT NULL,
    provider_id TEXT NOT NULL CHECK (provider_id <> ''),
    upstream TEXT NOT NULL,
    shard INTEGER NOT NULL,
    -- The local id of a conversation or response. A response may have no record.
    kept TEXT NOT NULL,
    -- Whether the provider may hold other items than this store lists.
    in_doubt INTEGER NOT NULL,
    PRIMARY KEY (tenant, provider_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX ledgers_by_kept ON ledgers (tenant, shard, kept);
