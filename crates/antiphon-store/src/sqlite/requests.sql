-- The request of each turn, so that a retry is recognized.
ALTER TABLE responses ADD COLUMN request BLOB;
ALTER TABLE openings ADD COLUMN request BLOB;

CREATE INDEX responses_by_request ON responses (tenant, shard, request, created_at) WHERE request IS NOT NULL;
CREATE INDEX openings_by_request ON openings (tenant, shard, request) WHERE request IS NOT NULL;

-- Tombstones can be looked up by item id too.
CREATE INDEX items_erased ON items (tenant, item_id, copy) WHERE body IS NULL;

-- The last turn of a conversation's thread, if nothing was appended after it: the request that it
-- answers, and its start.
ALTER TABLE threads ADD COLUMN last_request BLOB;
ALTER TABLE threads ADD COLUMN last_from INTEGER;
