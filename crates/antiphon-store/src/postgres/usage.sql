-- The number of live items of each tenant, and the bytes of their bodies: the sums of its rows. A
-- connection updates the row of its own slot, so that writers seldom wait for one another. A single
-- row may be negative.
--
-- Writers of items wait until this migration has counted. It counts items that were committed
-- before; the triggers count later ones.
SET LOCAL statement_timeout = '1h';
LOCK TABLE items IN SHARE ROW EXCLUSIVE MODE;

CREATE TABLE tenant_usage (
    tenant text COLLATE "C" NOT NULL,
    slot integer NOT NULL,
    items bigint NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (tenant, slot)
) WITH (fillfactor = 50);

INSERT INTO tenant_usage (tenant, slot, items, bytes)
SELECT tenant, 0, count(*), sum(octet_length(body)) FROM items WHERE body IS NOT NULL GROUP BY tenant;

CREATE FUNCTION count_added_items() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tenant_usage AS held (tenant, slot, items, bytes)
    SELECT tenant, pg_backend_pid() % 8, count(*), sum(octet_length(body))
    FROM added WHERE body IS NOT NULL GROUP BY tenant
    ON CONFLICT (tenant, slot) DO UPDATE
    SET items = held.items + excluded.items, bytes = held.bytes + excluded.bytes;
    RETURN NULL;
END
$$;

CREATE FUNCTION count_deleted_items() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tenant_usage AS held (tenant, slot, items, bytes)
    SELECT tenant, pg_backend_pid() % 8, -count(*), -sum(octet_length(body))
    FROM deleted WHERE body IS NOT NULL GROUP BY tenant
    ON CONFLICT (tenant, slot) DO UPDATE
    SET items = held.items + excluded.items, bytes = held.bytes + excluded.bytes;
    RETURN NULL;
END
$$;

CREATE FUNCTION count_erased_item() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tenant_usage AS held (tenant, slot, items, bytes)
    VALUES (OLD.tenant, pg_backend_pid() % 8, -1, -octet_length(OLD.body))
    ON CONFLICT (tenant, slot) DO UPDATE
    SET items = held.items + excluded.items, bytes = held.bytes + excluded.bytes;
    RETURN NULL;
END
$$;

CREATE TRIGGER items_added AFTER INSERT ON items
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_added_items();

CREATE TRIGGER items_deleted AFTER DELETE ON items
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_items();

CREATE TRIGGER items_erased AFTER UPDATE OF body ON items FOR EACH ROW
WHEN (OLD.body IS NOT NULL AND NEW.body IS NULL) EXECUTE FUNCTION count_erased_item();
