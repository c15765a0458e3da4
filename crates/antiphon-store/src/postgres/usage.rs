//! Reads the amount of stored data. Triggers count it (`usage.sql`).

use tokio_postgres::Row;

use super::failure::Failure;
use super::session::Session;
use super::statements::statements;
use crate::ids::{ConversationId, Tenant};
use crate::keys::shard;
use crate::usage::Usage;

type Result<T> = std::result::Result<T, Failure>;

/// The amount of data of a tenant.
pub(super) async fn of_tenant(db: &Session, tenant: &Tenant) -> Result<Usage> {
    read(db.row(&OF_TENANT, &[&tenant.as_str()]).await?)
}

/// The amount of data of a conversation. Zero if it does not exist.
pub(super) async fn of_conversation(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
) -> Result<Usage> {
    let given = (tenant.as_str(), shard(id.shard()), id.as_str());
    read(db.row(&OF_CONVERSATION, &[&given.0, &given.1, &given.2]).await?)
}

/// Deletes the counts of a tenant without items, at the end of its erasure. Returns whether any sum
/// differed from zero.
///
/// The first statement waits for writers that have already counted. The second one then sees their
/// items, and leaves the counts. Later writers insert new rows.
pub(super) async fn forget(db: &Session, tenant: &Tenant) -> Result<bool> {
    db.rows(&LOCK, &[&tenant.as_str()]).await?;
    let forgotten = db.row(&FORGET, &[&tenant.as_str()]).await?;
    Ok(forgotten.is_some_and(|row| row.get(0)))
}

fn read(row: Option<Row>) -> Result<Usage> {
    let row = row.ok_or_else(|| Failure::unreadable("no counts of items"))?;
    Ok(Usage::from_columns(row.get(0), row.get(1)))
}

statements! {
    OF_TENANT = "
        SELECT coalesce(sum(items), 0)::bigint, coalesce(sum(bytes), 0)::bigint
        FROM tenant_usage WHERE tenant = $1";
    OF_CONVERSATION = "
        SELECT count(*), coalesce(sum(octet_length(body)), 0)
        FROM conversations JOIN items USING (tenant, shard, thread)
        WHERE tenant = $1 AND shard = $2 AND id = $3 AND body IS NOT NULL";
    LOCK = "SELECT slot FROM tenant_usage WHERE tenant = $1 ORDER BY slot FOR UPDATE";
    FORGET = "
        WITH forgotten AS (
            DELETE FROM tenant_usage
            WHERE tenant = $1 AND NOT EXISTS (SELECT FROM items WHERE tenant = $1)
            RETURNING items, bytes
        )
        SELECT sum(items) <> 0 OR sum(bytes) <> 0 FROM forgotten HAVING count(*) > 0";
}
