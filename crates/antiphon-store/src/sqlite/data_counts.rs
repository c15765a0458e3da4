//! Counts the data of each tenant.

use rusqlite::{Connection, Row, params};

use super::keys::row_key;
use crate::error::StoreError;
use crate::ids::{ConversationId, Tenant};
use crate::snapshot::DataCounts;
use crate::usage::Usage;

type Result<T> = std::result::Result<T, StoreError>;

/// The first tenant after this one that has any data.
pub(super) fn next_tenant(db: &Connection, after: Option<&Tenant>) -> Result<Option<Tenant>> {
    const SQL: &str = "
        SELECT min(tenant) FROM (
            SELECT min(tenant) AS tenant FROM conversations WHERE tenant > ?1
            UNION ALL SELECT min(tenant) FROM pending_turns WHERE tenant > ?1
            UNION ALL SELECT min(tenant) FROM ledgers WHERE tenant > ?1
            UNION ALL SELECT min(tenant) FROM item_ids WHERE tenant > ?1
            UNION ALL SELECT min(tenant) FROM jobs WHERE tenant > ?1
            UNION ALL SELECT min(tenant) FROM events WHERE tenant > ?1
            UNION ALL SELECT min(tenant) FROM threads WHERE tenant > ?1
            UNION ALL SELECT min(tenant) FROM notices WHERE tenant > ?1
            UNION ALL SELECT min(tenant) FROM tenant_usage WHERE tenant > ?1
        )";
    let after = after.map_or("", Tenant::as_str);
    let next: Option<String> = db.prepare_cached(SQL)?.query_row([after], |row| row.get(0))?;
    Ok(next.map(Tenant::new))
}

/// Counts the data of a tenant.
pub(super) fn count(db: &Connection, tenant: &Tenant) -> Result<DataCounts> {
    const SQL: &str = "
        SELECT (SELECT count(*) FROM conversations WHERE tenant = ?1),
               (SELECT count(response) FROM threads WHERE tenant = ?1),
               (SELECT count(*) FROM pending_turns WHERE tenant = ?1),
               (SELECT count(*) FROM ledgers WHERE tenant = ?1),
               (SELECT coalesce(sum(live), 0) FROM threads WHERE tenant = ?1),
               (SELECT coalesce(sum(held - live), 0) FROM threads WHERE tenant = ?1),
               (SELECT count(*) FROM threads WHERE tenant = ?1 AND first = 0x7fffffffffffffff)
                   + (SELECT count(*) FROM item_ids WHERE tenant = ?1)
                   + (SELECT count(*) FROM jobs WHERE tenant = ?1)
                   + (SELECT count(*) FROM events WHERE tenant = ?1)
                   + (SELECT count(*) FROM notices WHERE tenant = ?1)
                   + (SELECT count(*) FROM tenant_usage WHERE tenant = ?1)";
    let held = db.prepare_cached(SQL)?.query_row(params![tenant.as_str()], |row| {
        Ok(DataCounts {
            conversations: read_count(row, 0)?,
            responses: read_count(row, 1)?,
            pending_turns: read_count(row, 2)?,
            ledgers: read_count(row, 3)?,
            items: read_count(row, 4)?,
            deleted_items: read_count(row, 5)?,
            others: read_count(row, 6)?,
        })
    })?;
    Ok(held)
}

/// Reads a count, which is never negative.
fn read_count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}

/// The amount of data of a conversation. Zero if it does not exist.
pub(super) fn conversation_usage(
    db: &Connection,
    tenant: &Tenant,
    id: &ConversationId,
) -> Result<Usage> {
    const SQL: &str = "
        SELECT coalesce(sum(live), 0), coalesce(sum(bytes), 0)
        FROM conversations JOIN threads USING (tenant, shard, thread)
        WHERE tenant = ?1 AND shard = ?2 AND id = ?3";
    let given = row_key(tenant, id);
    Ok(db.prepare_cached(SQL)?.query_row(given, read_usage)?)
}

fn read_usage(row: &Row<'_>) -> rusqlite::Result<Usage> {
    Ok(Usage::from_columns(row.get(0)?, row.get(1)?))
}
