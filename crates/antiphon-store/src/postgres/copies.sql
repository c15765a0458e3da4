-- Encrypted copies of turns that their provider may have lost, and the expiry of each, in Unix
-- seconds.
ALTER TABLE responses ADD COLUMN copy bytea;
ALTER TABLE responses ADD COLUMN copy_until bigint;
ALTER TABLE openings ADD COLUMN copy bytea;
ALTER TABLE openings ADD COLUMN copy_until bigint;

CREATE INDEX responses_by_copy ON responses (copy_until) WHERE copy_until IS NOT NULL;
