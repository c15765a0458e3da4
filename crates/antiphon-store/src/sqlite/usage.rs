//! Reads the amount of stored data. Triggers count it (`usage.sql`).

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::keys::shard;
use crate::error::StoreError;
use crate::ids::{ConversationId, Tenant};
use crate::usage::Usage;

type Result<T> = std::result::Result<T, StoreError>;

/// The amount of data of a tenant.
pub(super) fn of_tenant(db: &Connection, tenant: &Tenant) -> Result<Usage> {
    const SQL: &str = "SELECT items, bytes FROM tenant_usage WHERE tenant = ?1";
    let found = db.prepare_cached(SQL)?.query_row([tenant.as_str()], read).optional()?;
    Ok(found.unwrap_or_default())
}

/// The amount of data of a conversation. Zero if it does not exist.
pub(super) fn of_conversation(
    db: &Connection,
    tenant: &Tenant,
    id: &ConversationId,
) -> Result<Usage> {
    const SQL: &str = "
        SELECT count(*), coalesce(sum(length(body)), 0)
        FROM conversations JOIN items USING (tenant, shard, thread)
        WHERE tenant = ?1 AND shard = ?2 AND id = ?3 AND body IS NOT NULL";
    let given = params![tenant.as_str(), shard(id.shard()), id.as_str()];
    Ok(db.prepare_cached(SQL)?.query_row(given, read)?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Usage> {
    Ok(Usage::from_columns(row.get(0)?, row.get(1)?))
}
