-- Expiry deletes the oldest responses first.
CREATE INDEX responses_by_creation ON responses (created_at);

-- Recently erased tenants. Turns that began before `began_before` (Unix seconds) can no longer be
-- committed.
CREATE TABLE erasures (
    tenant text COLLATE "C" PRIMARY KEY,
    began_before bigint NOT NULL,
    noted_at timestamptz NOT NULL DEFAULT now()
);
