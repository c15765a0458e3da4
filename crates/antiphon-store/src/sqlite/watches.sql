-- Responses whose end is awaited: notices of turns that their provider has open.
CREATE INDEX watches_by_time ON notices (due_at) WHERE is_open AND endpoint = 'upstream';
