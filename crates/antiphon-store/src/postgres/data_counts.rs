//! Counts the data of each tenant.

use super::erasure::read_count;
use super::failure::Failure;
use super::session::Session;
use super::statements::statements;
use crate::ids::Tenant;
use crate::snapshot::DataCounts;

type Result<T> = std::result::Result<T, Failure>;

/// The first tenant after this one that has any data.
pub(super) async fn next_tenant(db: &Session, after: Option<&Tenant>) -> Result<Option<Tenant>> {
    let after = after.map_or("", Tenant::as_str);
    let next = db.row(&NEXT_TENANT, &[&after]).await?;
    Ok(next.and_then(|row| row.get::<_, Option<&str>>(0).map(Tenant::new)))
}

/// Counts the data of a tenant.
pub(super) async fn count(db: &Session, tenant: &Tenant) -> Result<DataCounts> {
    let row = db.row(&HOLDINGS, &[&tenant.as_str()]).await?;
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

statements! {
    NEXT_TENANT = "
        SELECT min(tenant) FROM (
            SELECT min(tenant) AS tenant FROM conversations WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM responses WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM openings WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM ledgers WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM opening_items WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM leases WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM jobs WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM events WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM items WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM item_places WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM threads WHERE tenant > $1
            UNION ALL SELECT min(tenant) FROM notices WHERE tenant > $1
            UNION ALL (
                SELECT tenant FROM tenant_usage WHERE tenant > $1
                GROUP BY tenant HAVING sum(items) <> 0 OR sum(bytes) <> 0
                ORDER BY tenant LIMIT 1
            )
        ) AS next";
    HOLDINGS = "
        SELECT (SELECT count(*) FROM conversations WHERE tenant = $1),
               (SELECT count(*) FROM responses WHERE tenant = $1),
               (SELECT count(*) FROM openings WHERE tenant = $1),
               (SELECT count(*) FROM ledgers WHERE tenant = $1),
               (SELECT count(body) FROM items WHERE tenant = $1),
               (SELECT count(*) - count(body) FROM items WHERE tenant = $1),
               (SELECT count(*) FROM threads WHERE tenant = $1)
                   + (SELECT count(*) FROM opening_items WHERE tenant = $1)
                   + (SELECT count(*) FROM leases WHERE tenant = $1)
                   + (SELECT count(*) FROM jobs WHERE tenant = $1)
                   + (SELECT count(*) FROM events WHERE tenant = $1)
                   + (SELECT count(*) FROM item_places WHERE tenant = $1)
                   + (SELECT count(*) FROM notices WHERE tenant = $1)
                   + (SELECT count(*) FROM (
                          SELECT FROM tenant_usage WHERE tenant = $1
                          HAVING sum(items) <> 0 OR sum(bytes) <> 0
                      ) AS counts)";
}
