-- Requests are known when their clients send them again.
ALTER TABLE responses ADD COLUMN request BLOB;
ALTER TABLE openings ADD COLUMN request BLOB;

CREATE INDEX responses_by_request ON responses (tenant, shard, request, created_at) WHERE request IS NOT NULL;
CREATE INDEX openings_by_request ON openings (tenant, shard, request) WHERE request IS NOT NULL;

-- What was deleted is found by its id too.
CREATE INDEX items_erased ON items (tenant, item_id, copy) WHERE body IS NULL;

-- The last turn of a conversation's thread, if nothing was added behind it: what it answers, and
-- where it began.
ALTER TABLE threads ADD COLUMN last_request BLOB;
ALTER TABLE threads ADD COLUMN last_from INTEGER;
