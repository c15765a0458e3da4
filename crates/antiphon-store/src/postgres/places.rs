//! Finds the items of a tenant in any shard.

use antiphon::{HeldItem, ItemId};

use super::failure::Failure;
use super::row::{self, item_columns};
use super::session::Session;
use super::statements::statements;
use crate::ids::Tenant;

/// For each of these items: its newest live copy whose bytes are in this store, or the newest
/// tombstone if no copy is live. Leaves out an item that is live only at a provider.
pub(super) async fn newest(
    db: &Session,
    tenant: &Tenant,
    ids: &[ItemId],
) -> Result<Vec<HeldItem>, Failure> {
    let ids: Vec<&[u8]> = ids.iter().map(|id| id.as_str().as_bytes()).collect();
    row::read_all(&db.rows(&NEWEST, &[&tenant.as_str(), &ids]).await?)
}

/// Those of these items that the tenant has live and that a model generated.
pub(super) async fn find_generated(
    db: &Session,
    tenant: &Tenant,
    ids: &[ItemId],
) -> Result<Vec<ItemId>, Failure> {
    let asked: Vec<&[u8]> = ids.iter().map(|id| id.as_str().as_bytes()).collect();
    let rows = db.rows(&MADE, &[&tenant.as_str(), &asked]).await?;
    let made = rows.iter().map(|row| row.get::<_, i64>(0));
    Ok(made.filter_map(|at| ids.get(usize::try_from(at).ok()?).cloned()).collect())
}

statements! {
    MADE = "
        SELECT position - 1
        FROM unnest($2::bytea[]) WITH ORDINALITY AS asked (id, position)
        WHERE EXISTS (
            SELECT FROM item_places JOIN items USING (tenant, shard, thread, seq)
            WHERE tenant = $1 AND item_places.item = sha256(asked.id)
              AND body IS NOT NULL AND origin IS NOT NULL
        )
        ORDER BY position";
    NEWEST = concat!(
        "SELECT ", item_columns!(), "
        FROM (SELECT DISTINCT sha256(id) AS item FROM unnest($2::bytea[]) AS asked (id)) AS asked
        CROSS JOIN LATERAL (
            SELECT ", item_columns!(), "
            FROM item_places JOIN items USING (tenant, shard, thread, seq)
            WHERE tenant = $1 AND item_places.item = asked.item
            ORDER BY body IS NULL, body = '', item_places.copy DESC LIMIT 1
        ) AS newest
        WHERE body IS DISTINCT FROM ''"
    );
}
