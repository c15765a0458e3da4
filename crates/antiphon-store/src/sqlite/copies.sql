-- Encrypted copies of turns that their provider may have lost, and the expiry of each, in Unix
-- seconds.
ALTER TABLE responses ADD COLUMN copy BLOB;
ALTER TABLE responses ADD COLUMN copy_until INTEGER;
ALTER TABLE openings ADD COLUMN copy BLOB;
ALTER TABLE openings ADD COLUMN copy_until INTEGER;

CREATE INDEX responses_by_copy ON responses (copy_until) WHERE copy_until IS NOT NULL;
