-- Messages for external endpoints. None is due while its turn is open. An attempt claims a message
-- by moving its due time.
CREATE TABLE notices (
    tenant text COLLATE "C" NOT NULL,
    shard bigint NOT NULL,
    response text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    endpoint text COLLATE "C" NOT NULL,
    is_open boolean NOT NULL,
    due_at bigint NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    body bytea NOT NULL,
    PRIMARY KEY (tenant, shard, response, id, endpoint)
);

CREATE INDEX notices_by_time ON notices (due_at) WHERE NOT is_open;
