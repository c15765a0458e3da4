-- The conversations of a tenant, newest first. A turn writes no entry of this index.
CREATE INDEX conversations_by_creation ON conversations (tenant, created_at, id);
