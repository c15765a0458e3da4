-- Expiry deletes the oldest responses first.
CREATE INDEX responses_by_creation ON responses (created_at);
