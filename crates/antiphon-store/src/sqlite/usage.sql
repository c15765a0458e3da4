-- The number of live items of each tenant, and the bytes of their bodies. A tenant without items
-- has no row.
CREATE TABLE tenant_usage (
    tenant TEXT NOT NULL PRIMARY KEY,
    items INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO tenant_usage (tenant, items, bytes)
SELECT tenant, count(*), sum(length(body)) FROM items WHERE body IS NOT NULL GROUP BY tenant;

CREATE TRIGGER items_added AFTER INSERT ON items WHEN NEW.body IS NOT NULL
BEGIN
    INSERT INTO tenant_usage (tenant, items, bytes) VALUES (NEW.tenant, 1, length(NEW.body))
    ON CONFLICT (tenant) DO UPDATE
    SET items = items + excluded.items, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER items_deleted AFTER DELETE ON items WHEN OLD.body IS NOT NULL
BEGIN
    UPDATE tenant_usage SET items = items - 1, bytes = bytes - length(OLD.body)
    WHERE tenant = OLD.tenant;
    DELETE FROM tenant_usage WHERE tenant = OLD.tenant AND items = 0;
END;

CREATE TRIGGER items_erased AFTER UPDATE OF body ON items
WHEN OLD.body IS NOT NULL AND NEW.body IS NULL
BEGIN
    UPDATE tenant_usage SET items = items - 1, bytes = bytes - length(OLD.body)
    WHERE tenant = OLD.tenant;
    DELETE FROM tenant_usage WHERE tenant = OLD.tenant AND items = 0;
END;
