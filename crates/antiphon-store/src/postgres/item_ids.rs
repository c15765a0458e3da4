//! The places of item ids.

use antiphon::{HeldItem, ItemId};
use tokio_postgres::Row;

use super::failure::Failure;
use super::session::Session;
use super::statements::statements;
use crate::encoding;
use crate::ids::{ConversationId, Tenant};
use crate::item_index::id_column;
use crate::keys::{ThreadKey, position, row_key, seq_from_column};
use crate::records::Seq;

type Result<T> = std::result::Result<T, Failure>;

/// The position of the live item with this id in a thread.
pub(super) async fn place(db: &Session, key: ThreadKey<'_>, id: &ItemId) -> Result<Option<Seq>> {
    let (given, id) = ((key.tenant(), key.shard(), key.thread()), column(id));
    let found = db.row(&PLACE, &[&given.0, &given.1, &given.2, &id]).await?;
    Ok(found.map(|row| seq_from_column(row.get(0))))
}

/// The live item with this id in a conversation.
pub(super) async fn find(
    db: &Session,
    tenant: &Tenant,
    conversation: &ConversationId,
    id: &ItemId,
) -> Result<Option<HeldItem>> {
    let (given, id) = (row_key(tenant, conversation), column(id));
    let found = db.row(&FIND, &[&given.0, &given.1, &given.2, &id]).await?;
    Ok(found.as_ref().map(read).transpose()?.flatten())
}

/// For each of these items: its newest live copy whose bytes are in this store, or the newest
/// tombstone if no copy is live. Leaves out an item that is live only at a provider.
pub(super) async fn find_newest(
    db: &Session,
    tenant: &Tenant,
    ids: &[ItemId],
) -> Result<Vec<HeldItem>> {
    let ids: Vec<Vec<u8>> = ids.iter().map(column).collect();
    let rows = db.rows(&NEWEST, &[&tenant.as_str(), &ids]).await?;
    let items = rows.iter().map(read).collect::<Result<Vec<_>>>()?;
    Ok(items.into_iter().flatten().collect())
}

/// Those of these items that the tenant has live and that a model generated.
pub(super) async fn find_generated(
    db: &Session,
    tenant: &Tenant,
    ids: &[ItemId],
) -> Result<Vec<ItemId>> {
    let asked: Vec<Vec<u8>> = ids.iter().map(column).collect();
    let rows = db.rows(&FIND_GENERATED, &[&tenant.as_str(), &asked]).await?;
    let positions = rows.iter().map(|row| row.get::<_, i64>(0));
    Ok(positions.filter_map(|at| ids.get(usize::try_from(at).ok()?).cloned()).collect())
}

/// Marks a live item as a tombstone.
pub(super) async fn mark_erased(
    db: &Session,
    key: ThreadKey<'_>,
    id: &ItemId,
    seq: Seq,
) -> Result<()> {
    let (given, id) = ((key.tenant(), key.shard(), key.thread()), column(id));
    db.execute(&ERASE, &[&given.0, &given.1, &given.2, &id, &position(seq)]).await.map(drop)
}

/// Deletes the places of these items of a thread, from position `from` on.
pub(super) async fn remove(
    db: &Session,
    key: ThreadKey<'_>,
    items: impl Iterator<Item = &HeldItem>,
    from: Seq,
) -> Result<()> {
    let ids: Vec<Vec<u8>> = items.map(|item| column(&item.id)).collect();
    let given = (key.tenant(), key.shard(), key.thread(), position(from));
    db.execute(&REMOVE, &[&given.0, &given.1, &given.2, &given.3, &ids]).await.map(drop)
}

/// Records that these items of a thread, from position `from` on, moved to another thread of the
/// shard, at the same positions.
pub(super) async fn move_to(
    db: &Session,
    key: ThreadKey<'_>,
    items: impl Iterator<Item = &HeldItem>,
    from: Seq,
    to: ThreadKey<'_>,
) -> Result<()> {
    let ids: Vec<Vec<u8>> = items.map(|item| column(&item.id)).collect();
    let given = (key.tenant(), key.shard(), key.thread(), position(from), to.thread());
    db.execute(&MOVE, &[&given.0, &given.1, &given.2, &given.3, &ids, &given.4]).await.map(drop)
}

/// Statements take the digest of a long id.
fn column(id: &ItemId) -> Vec<u8> {
    id_column(id).into_bytes()
}

/// Reads an item from the columns of its position, and the first position and the items of its
/// segment.
fn read(row: &Row) -> Result<Option<HeldItem>> {
    let skipped = seq_from_column(row.get(0)).saturating_sub(seq_from_column(row.get(1)));
    let encoded: &[u8] = row.get(2);
    let items = encoding::decode(encoded.to_vec().into())?;
    Ok(items.into_iter().nth(usize::try_from(skipped).unwrap_or(usize::MAX)))
}

/// The key of an id in the index: an id may be too long for an index.
macro_rules! id_key {
    ($id:literal) => {
        concat!("CASE WHEN octet_length(", $id, ") > 128 THEN sha256(", $id, ") ELSE ", $id, " END")
    };
}

/// The segment that contains an item.
macro_rules! segment_of {
    ($place:literal) => {
        concat!(
            "CROSS JOIN LATERAL (
                SELECT first, items FROM segments
                WHERE tenant = $1 AND segments.shard = ",
            $place,
            ".shard
                  AND segments.thread = ",
            $place,
            ".thread AND first <= ",
            $place,
            ".seq
                  AND held > 0
                ORDER BY first DESC LIMIT 1
            ) AS segment"
        )
    };
}

statements! {
    PLACE = concat!(
        "SELECT seq FROM item_ids
        WHERE tenant = $1 AND shard = $2 AND thread = $3 AND tomb = 0 AND id = ",
        id_key!("$4::bytea")
    );
    FIND = concat!(
        "SELECT seq, first, items
        FROM conversations
        JOIN item_ids AS place USING (tenant, shard, thread) ",
        segment_of!("place"), "
        WHERE tenant = $1 AND shard = $2 AND conversations.id = $3 AND tomb = 0 AND place.id = ",
        id_key!("$4::bytea")
    );
    ERASE = concat!(
        "UPDATE item_ids SET flags = flags & ~3::bigint, tomb = seq + 1
        WHERE tenant = $1 AND shard = $2 AND thread = $3 AND seq = $5 AND tomb = 0 AND id = ",
        id_key!("$4::bytea")
    );
    REMOVE = concat!(
        "DELETE FROM item_ids
        WHERE tenant = $1 AND shard = $2 AND thread = $3 AND seq >= $4
          AND id IN (SELECT ", id_key!("id"), " FROM unnest($5::bytea[]) AS given (id))"
    );
    MOVE = concat!(
        "UPDATE item_ids SET thread = $6
        WHERE tenant = $1 AND shard = $2 AND thread = $3 AND seq >= $4
          AND id IN (SELECT ", id_key!("id"), " FROM unnest($5::bytea[]) AS given (id))"
    );
    FIND_GENERATED = concat!(
        "SELECT at - 1 FROM unnest($2::bytea[]) WITH ORDINALITY AS asked (id, at)
        WHERE EXISTS (
            SELECT FROM item_ids
            WHERE tenant = $1 AND flags & 5 = 5 AND item_ids.id = ", id_key!("asked.id"), "
        )
        ORDER BY at"
    );
    NEWEST = concat!(
        "SELECT seq, first, items
        FROM (
            SELECT DISTINCT ", id_key!("id"), " AS id FROM unnest($2::bytea[]) AS given (id)
        ) AS asked
        CROSS JOIN LATERAL (
            SELECT shard, thread, seq, flags FROM item_ids
            WHERE tenant = $1 AND item_ids.id = asked.id
            ORDER BY flags & 1 DESC, flags & 2 DESC, copy DESC LIMIT 1
        ) AS place ",
        segment_of!("place"), "
        WHERE flags & 3 <> 1"
    );
}
