-- Background responses, oldest first: the data to restart each job, and its state.
CREATE TABLE jobs (
    tenant text COLLATE "C" NOT NULL,
    shard bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    ordinal bigint NOT NULL DEFAULT nextval('ordinals'),
    -- The process that works on the job; empty if none does.
    holder text COLLATE "C" NOT NULL,
    -- The number of times the job was taken up again.
    times bigint NOT NULL DEFAULT 0,
    cancelled boolean NOT NULL DEFAULT false,
    request bytea NOT NULL,
    -- The data to restart the job; NULL once it has ended.
    work bytea,
    -- The point that the job continues from, once known: it keeps items below (thread, after).
    thread bigint,
    after bigint,
    -- The expiry of the job's events, in Unix seconds; NULL while the job is open.
    expires_at bigint,
    PRIMARY KEY (tenant, shard, id),
    CHECK ((work IS NULL) = (expires_at IS NOT NULL))
);

CREATE INDEX jobs_open ON jobs (ordinal) WHERE expires_at IS NULL;
CREATE INDEX jobs_by_request ON jobs (tenant, shard, request) WHERE expires_at IS NULL;
CREATE INDEX jobs_by_holder ON jobs (holder) WHERE expires_at IS NULL;
CREATE INDEX jobs_by_thread ON jobs (tenant, shard, thread, after)
    WHERE expires_at IS NULL AND after IS NOT NULL;
CREATE INDEX jobs_ended ON jobs (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE events (
    tenant text COLLATE "C" NOT NULL,
    shard bigint NOT NULL,
    response text COLLATE "C" NOT NULL,
    sequence_number bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (tenant, shard, response, sequence_number)
) PARTITION BY HASH (tenant, shard);

DO $$
BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
            'events_' || part, part
        );
    END LOOP;
END
$$;
