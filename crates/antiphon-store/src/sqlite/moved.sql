-- The items have moved to `segments`.
DROP TABLE former_threads;
DROP TABLE former_openings;
DROP TABLE opening_items;
DROP TABLE items;
DROP TABLE responses;

UPDATE summarized SET segment = (SELECT coalesce(max(number), 0) FROM segments);
INSERT INTO creations
SELECT created_at, number FROM segments WHERE created_at IS NOT NULL ORDER BY created_at, number;

-- The summaries follow the changes of the segments that they cover.
CREATE TRIGGER segment_deleted AFTER DELETE ON segments
WHEN OLD.number <= (SELECT segment FROM summarized)
BEGIN
    UPDATE tenant_usage SET items = items - OLD.live, bytes = bytes - OLD.bytes
    WHERE tenant = OLD.owner;
    DELETE FROM tenant_usage WHERE tenant = OLD.owner AND items = 0;
    DELETE FROM creations WHERE created_at = OLD.created_at AND segment = OLD.number;
END;

CREATE TRIGGER items_changed AFTER UPDATE OF live, bytes ON segments
WHEN OLD.number <= (SELECT segment FROM summarized)
BEGIN
    UPDATE tenant_usage
    SET items = items + NEW.live - OLD.live, bytes = bytes + NEW.bytes - OLD.bytes
    WHERE tenant = OLD.owner;
    DELETE FROM tenant_usage WHERE tenant = OLD.owner AND items = 0;
END;

CREATE TRIGGER creation_changed AFTER UPDATE OF created_at ON segments
WHEN OLD.number <= (SELECT segment FROM summarized)
BEGIN
    DELETE FROM creations WHERE created_at = OLD.created_at AND segment = OLD.number;
    INSERT INTO creations SELECT NEW.created_at, NEW.number WHERE NEW.created_at IS NOT NULL;
END;
