-- Conversations that began without an upstream: their first turn selects one. They keep their local
-- id, even if an upstream stores them.
ALTER TABLE conversations ADD COLUMN binds_late boolean NOT NULL DEFAULT false;
