-- The items have moved to `segments`. From now on these count them.
DROP TABLE former_threads;
DROP TABLE former_openings;
DROP TABLE opening_items;
DROP TABLE items;
DROP TABLE responses;

CREATE TRIGGER segment_added AFTER INSERT ON threads WHEN NEW.live > 0
BEGIN
    INSERT INTO tenant_usage (tenant, items, bytes) VALUES (NEW.tenant, NEW.live, NEW.bytes)
    ON CONFLICT (tenant) DO UPDATE
    SET items = items + excluded.items, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER segment_deleted AFTER DELETE ON threads WHEN OLD.live > 0
BEGIN
    UPDATE tenant_usage SET items = items - OLD.live, bytes = bytes - OLD.bytes
    WHERE tenant = OLD.tenant;
    DELETE FROM tenant_usage WHERE tenant = OLD.tenant AND items = 0;
END;

CREATE TRIGGER segment_changed AFTER UPDATE OF live, bytes ON threads
BEGIN
    UPDATE tenant_usage
    SET items = items + NEW.live - OLD.live, bytes = bytes + NEW.bytes - OLD.bytes
    WHERE tenant = OLD.tenant;
    DELETE FROM tenant_usage WHERE tenant = OLD.tenant AND items = 0;
END;
