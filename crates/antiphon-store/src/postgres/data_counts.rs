//! Counts the data of each tenant. The statement that appends segments counts their items; triggers
//! count all other changes (`moved.sql`).

use tokio_postgres::Row;

use super::erasure::read_count;
use super::failure::Failure;
use super::session::Session;
use super::statements::statements;
use crate::ids::{ConversationId, Tenant};
use crate::keys::row_key;
use crate::snapshot::DataCounts;
use crate::usage::Usage;

type Result<T> = std::result::Result<T, Failure>;

/// The first tenant after this one that has any data.
pub(super) async fn next_tenant(db: &Session, after: Option<&Tenant>) -> Result<Option<Tenant>> {
    let after = after.map_or("", Tenant::as_str);
    let next = db.row(&NEXT_TENANT, &[&after]).await?;
    Ok(next.and_then(|row| row.get::<_, Option<&str>>(0).map(Tenant::new)))
}

/// Counts the data of a tenant.
pub(super) async fn count(db: &Session, tenant: &Tenant) -> Result<DataCounts> {
    let row = db.row(&COUNT, &[&tenant.as_str()]).await?;
    let row = row.ok_or_else(|| Failure::unreadable("no counts"))?;
    Ok(DataCounts {
        conversations: read_count(&row, 0),
        responses: read_count(&row, 1),
        pending_turns: read_count(&row, 2),
        ledgers: read_count(&row, 3),
        items: read_count(&row, 4),
        deleted_items: read_count(&row, 5),
        others: read_count(&row, 6),
    })
}

/// The amount of data of a tenant.
pub(super) async fn tenant_usage(db: &Session, tenant: &Tenant) -> Result<Usage> {
    read_usage(db.row(&TENANT_USAGE, &[&tenant.as_str()]).await?)
}

/// The amount of data of a conversation. Zero if it does not exist.
pub(super) async fn conversation_usage(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
) -> Result<Usage> {
    let given = row_key(tenant, id);
    read_usage(db.row(&CONVERSATION_USAGE, &[&given.0, &given.1, &given.2]).await?)
}

/// Deletes the counts of a tenant without items, at the end of its erasure. Returns whether any sum
/// differed from zero.
///
/// The first statement waits for writers that have already counted. The second one then sees their
/// items, and leaves the counts. Later writers insert new rows.
pub(super) async fn forget_usage(db: &Session, tenant: &Tenant) -> Result<bool> {
    db.rows(&LOCK_USAGE, &[&tenant.as_str()]).await?;
    let forgotten = db.row(&FORGET_USAGE, &[&tenant.as_str()]).await?;
    Ok(forgotten.is_some_and(|row| row.get(0)))
}

fn read_usage(row: Option<Row>) -> Result<Usage> {
    let row = row.ok_or_else(|| Failure::unreadable("no counts of items"))?;
    Ok(Usage::from_columns(row.get(0), row.get(1)))
}

statements! {
    NEXT_TENANT = "
        SELECT min(tenant) FROM (
            SELECT min(tenant) AS tenant FROM conversations WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM pending_turns WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM ledgers WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM leases WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM jobs WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM events WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM segments WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM item_ids WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM threads WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM notices WHERE tenant > $1
            UNION ALL (
                SELECT tenant FROM tenant_usage WHERE tenant > $1
                GROUP BY tenant HAVING sum(items) <> 0 OR sum(bytes) <> 0
                ORDER BY tenant LIMIT 1
            )
        ) AS next";
    COUNT = "
        SELECT (SELECT count(*) FROM conversations WHERE tenant = $1),
               (SELECT count(id) FROM segments WHERE tenant = $1),
               (SELECT count(*) FROM pending_turns WHERE tenant = $1),
               (SELECT count(*) FROM ledgers WHERE tenant = $1),
               (SELECT coalesce(sum(live), 0)::bigint FROM segments WHERE tenant = $1),
               (SELECT coalesce(sum(held - live), 0)::bigint FROM segments WHERE tenant = $1),
               (SELECT count(*) FROM threads WHERE tenant = $1)
                   + (SELECT count(*) FROM leases WHERE tenant = $1)
                   + (SELECT count(*) FROM jobs WHERE tenant = $1)
                   + (SELECT count(*) FROM events WHERE tenant = $1)
                   + (SELECT count(*) FROM item_ids WHERE tenant = $1)
                   + (SELECT count(*) FROM notices WHERE tenant = $1)
                   + (SELECT count(*) FROM (
                          SELECT FROM tenant_usage WHERE tenant = $1
                          HAVING sum(items) <> 0 OR sum(bytes) <> 0
                      ) AS counts)";
    TENANT_USAGE = "
        SELECT coalesce(sum(items), 0)::bigint, coalesce(sum(bytes), 0)::bigint
        FROM tenant_usage WHERE tenant = $1";
    CONVERSATION_USAGE = "
        SELECT coalesce(sum(live), 0)::bigint, coalesce(sum(bytes), 0)::bigint
        FROM conversations JOIN segments USING (tenant, shard, thread)
        WHERE tenant = $1 AND shard = $2 AND conversations.id = $3";
    LOCK_USAGE = "SELECT slot FROM tenant_usage WHERE tenant = $1 ORDER BY slot FOR UPDATE";
    FORGET_USAGE = "
        WITH forgotten AS (
            DELETE FROM tenant_usage
            WHERE tenant = $1 AND NOT EXISTS (SELECT FROM segments WHERE tenant = $1)
            RETURNING items, bytes
        )
        SELECT sum(items) <> 0 OR sum(bytes) <> 0 FROM forgotten HAVING count(*) > 0";
}
