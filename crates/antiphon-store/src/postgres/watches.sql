-- Watches: notices of responses that their provider still runs.
CREATE INDEX watches_by_time ON notices (due_at) WHERE is_open AND endpoint = 'upstream';
