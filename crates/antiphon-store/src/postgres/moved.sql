-- The items have moved to `segments`.
DROP TABLE opening_items;
DROP TABLE openings;
DROP TABLE responses;
DROP TABLE item_places;
DROP TABLE items;
DROP FUNCTION count_added_items, count_deleted_items, count_erased_item;

-- The statement that appends segments counts their items. These triggers count all other changes.
CREATE FUNCTION count_deleted_segments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tenant_usage AS held (tenant, slot, items, bytes)
    SELECT tenant, pg_backend_pid() % 8, -sum(live), -sum(bytes)
    FROM deleted WHERE live > 0 GROUP BY tenant
    ON CONFLICT (tenant, slot) DO UPDATE
    SET items = held.items + excluded.items, bytes = held.bytes + excluded.bytes;
    RETURN NULL;
END
$$;

CREATE FUNCTION count_changed_segment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tenant_usage AS held (tenant, slot, items, bytes)
    VALUES (OLD.tenant, pg_backend_pid() % 8, NEW.live - OLD.live, NEW.bytes - OLD.bytes)
    ON CONFLICT (tenant, slot) DO UPDATE
    SET items = held.items + excluded.items, bytes = held.bytes + excluded.bytes;
    RETURN NULL;
END
$$;

CREATE TRIGGER segments_deleted AFTER DELETE ON segments
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_segments();

CREATE TRIGGER segment_changed AFTER UPDATE OF live, bytes ON segments FOR EACH ROW
WHEN (OLD.live <> NEW.live OR OLD.bytes <> NEW.bytes) EXECUTE FUNCTION count_changed_segment();
