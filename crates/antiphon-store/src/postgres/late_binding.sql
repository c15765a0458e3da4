-- Conversations that began without an upstream: their first turn decides it. They keep the id that they have
-- here, also when an upstream keeps them.
ALTER TABLE conversations ADD COLUMN binds_late boolean NOT NULL DEFAULT false;
