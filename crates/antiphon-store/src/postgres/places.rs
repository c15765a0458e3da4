//! Where a tenant holds an item, whatever the shard.

use antiphon::{HeldItem, ItemId};

use super::failure::Failure;
use super::row::{self, item_columns};
use super::session::Session;
use super::statements::statements;
use crate::ids::Tenant;

/// The newest live copy of each of these items that has its bytes; where none lives, what is left of
/// the newest.
pub(super) async fn newest(
    db: &Session,
    tenant: &Tenant,
    ids: &[ItemId],
) -> Result<Vec<HeldItem>, Failure> {
    let ids: Vec<&[u8]> = ids.iter().map(|id| id.as_str().as_bytes()).collect();
    row::read_all(&db.rows(&NEWEST, &[&tenant.as_str(), &ids]).await?)
}

statements! {
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
