-- Responses expire, the oldest first.
CREATE INDEX responses_by_creation ON responses (created_at);
