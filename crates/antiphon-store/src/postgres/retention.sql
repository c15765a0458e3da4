-- Responses expire, the oldest first.
CREATE INDEX responses_by_creation ON responses (created_at);

-- Tenants that were erased not long ago, and when, in Unix seconds: what began before is not
-- committed any more.
CREATE TABLE erasures (
    tenant text COLLATE "C" PRIMARY KEY,
    began_before bigint NOT NULL,
    noted_at timestamptz NOT NULL DEFAULT now()
);
