//! Appends items, reads them by range or id, and erases them.

use std::ops::Range;

use antiphon::{HeldItem, ItemId};
use tokio_postgres::Row;

use super::failure::Failure;
use super::row::{self, Arrays, given_items, item_columns};
use super::session::Session;
use super::statements::statements;
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Tenant};
use crate::keys::{self, ThreadKey, position, seq_from_column, shard};
use crate::records::{Cursor, ItemPage, Order, PageRequest, Seq};

type Result<T> = std::result::Result<T, Failure>;

/// Appends items from position `start` on. If the thread already has an item's id, or the id is
/// given twice, the server rejects the statement, and the error names that item.
pub(super) async fn append<'a>(
    db: &Session,
    key: ThreadKey<'_>,
    start: Seq,
    mut items: impl Iterator<Item = &'a HeldItem> + Clone,
) -> Result<()> {
    let given = Arrays::from_items(items.clone());
    if given.item_ids.is_empty() {
        return Ok(());
    }
    let appended = db
        .execute(
            &APPEND,
            &[
                &key.tenant(),
                &key.shard(),
                &key.thread(),
                &position(start),
                &given.item_ids,
                &given.own_ids,
                &given.kinds,
                &given.call_ids,
                &given.roles,
                &given.flags,
                &given.fingerprints,
                &given.origins,
                &given.bodies,
            ],
        )
        .await;
    let Err(failure) = appended else { return Ok(()) };
    match failure.duplicate().and_then(|at| items.nth(at)) {
        Some(item) => Err(StoreError::DuplicateItem(item.id.clone()).into()),
        None => Err(failure),
    }
}

/// All items before `cursor`, tombstones included. Sequence numbers increase along a lineage, so
/// their order is that of the transcript.
pub(super) async fn transcript(
    db: &Session,
    tenant: &Tenant,
    cursor: Cursor,
) -> Result<Vec<HeldItem>> {
    let key = ThreadKey::from_cursor(tenant, cursor);
    let given = (key.tenant(), key.shard(), key.thread(), position(cursor.end));
    row::read_all(&db.rows(&TRANSCRIPT, &[&given.0, &given.1, &given.2, &given.3]).await?)
}

/// The live items at the start or end of a range, as many as fit on the page. Reads the bytes of
/// these items only.
pub(super) async fn page(
    db: &Session,
    key: ThreadKey<'_>,
    range: &Range<Seq>,
    page: &PageRequest,
) -> Result<ItemPage> {
    let (sizes, items) = match page.order {
        Order::Ascending => (&SIZES, &RANGE),
        Order::Descending => (&SIZES_BACKWARDS, &RANGE_BACKWARDS),
    };
    let (start, end) = (position(range.start), position(range.end));
    let given = (key.tenant(), key.shard(), key.thread());
    let one_more = keys::limit(page.limit.saturating_add(1));
    let sizes = db.rows(sizes, &[&given.0, &given.1, &given.2, &start, &end, &one_more]).await?;
    let fitting = page.count_fitting(sizes.iter().map(size));
    let has_more = sizes.len() > fitting;
    let count = keys::limit(fitting);
    let rows = db.rows(items, &[&given.0, &given.1, &given.2, &start, &end, &count]).await?;
    Ok(ItemPage { items: row::read_all(&rows)?, has_more })
}

/// The size of a body.
fn size(row: &Row) -> usize {
    usize::try_from(row.get::<_, i32>(0)).unwrap_or(usize::MAX)
}

/// The live items of a response's output.
pub(super) async fn output(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Vec<HeldItem>> {
    let rows = db.rows(&OUTPUT, &[&tenant.as_str(), &shard(id.shard()), &id.as_str()]).await?;
    row::read_all(&rows)
}

/// The position of the live item with this id in a thread.
pub(super) async fn place(db: &Session, key: ThreadKey<'_>, id: &ItemId) -> Result<Option<Seq>> {
    let given = (key.tenant(), key.shard(), key.thread(), id.as_str().as_bytes());
    let found = db.row(&PLACE, &[&given.0, &given.1, &given.2, &given.3]).await?;
    Ok(found.map(|row| seq_from_column(row.get(0))))
}

/// The live item with this id in a conversation.
pub(super) async fn find(
    db: &Session,
    tenant: &Tenant,
    conversation: &ConversationId,
    id: &ItemId,
) -> Result<Option<HeldItem>> {
    let named = conversation.as_str();
    let given = (tenant.as_str(), shard(conversation.shard()), id.as_str().as_bytes());
    let found = db.row(&FIND, &[&given.0, &given.1, &named, &given.2]).await?;
    found.as_ref().map(row::read).transpose()
}

/// Erases the bytes of a live item and leaves a tombstone. Returns whether the item existed.
pub(super) async fn erase(db: &Session, key: ThreadKey<'_>, id: &ItemId) -> Result<bool> {
    let given = (key.tenant(), key.shard(), key.thread(), id.as_str().as_bytes());
    Ok(db.row(&ERASE, &[&given.0, &given.1, &given.2, &given.3]).await?.is_some())
}

/// Deletes a thread's items from position `from` on, tombstones included.
pub(super) async fn cut(db: &Session, key: ThreadKey<'_>, from: Seq) -> Result<()> {
    let given = (key.tenant(), key.shard(), key.thread(), position(from));
    db.execute(&CUT, &[&given.0, &given.1, &given.2, &given.3]).await.map(drop)
}

/// Moves a thread's items from position `from` on to another thread.
pub(super) async fn shift(
    db: &Session,
    key: ThreadKey<'_>,
    from: Seq,
    to: ThreadKey<'_>,
) -> Result<()> {
    let given = (key.tenant(), key.shard(), key.thread(), position(from), to.thread());
    db.execute(&SHIFT, &[&given.0, &given.1, &given.2, &given.3, &given.4]).await.map(drop)
}

/// For each of these items: its newest live copy whose bytes are in this store, or the newest
/// tombstone if no copy is live. Leaves out an item that is live only at a provider.
pub(super) async fn find_newest(
    db: &Session,
    tenant: &Tenant,
    ids: &[ItemId],
) -> Result<Vec<HeldItem>> {
    let ids: Vec<&[u8]> = ids.iter().map(|id| id.as_str().as_bytes()).collect();
    row::read_all(&db.rows(&NEWEST, &[&tenant.as_str(), &ids]).await?)
}

/// Those of these items that the tenant has live and that a model generated.
pub(super) async fn find_generated(
    db: &Session,
    tenant: &Tenant,
    ids: &[ItemId],
) -> Result<Vec<ItemId>> {
    let asked: Vec<&[u8]> = ids.iter().map(|id| id.as_str().as_bytes()).collect();
    let rows = db.rows(&FIND_GENERATED, &[&tenant.as_str(), &asked]).await?;
    let positions = rows.iter().map(|row| row.get::<_, i64>(0));
    Ok(positions.filter_map(|at| ids.get(usize::try_from(at).ok()?).cloned()).collect())
}

statements! {
    /// Fails if the thread has one of the items already: the cast of that item's number to a number
    /// is invalid ([`Failure::duplicate`]).
    APPEND = concat!(
        "WITH given AS (
            SELECT * FROM ", given_items!(
                "$5::bytea[], $6::bytea[], $7::bytea[], $8::bytea[], $9::text[], $10::bigint[], \
                 $11::bytea[], $12::bytea[], $13::bytea[]"
            ), "
        ), appended AS (
            INSERT INTO items (tenant, shard, thread, seq, ", item_columns!(), ", copy)
            SELECT $1::text, $2::bigint, $3::bigint, $4::bigint + at - 1, ", item_columns!(), ",
                   nextval('copies')
            FROM given
            ON CONFLICT (tenant, shard, thread, sha256(item_id)) WHERE body IS NOT NULL DO NOTHING
            RETURNING seq, item_id, copy
        ), placed AS (
            INSERT INTO item_places (tenant, item, copy, shard, thread, seq)
            SELECT $1, sha256(item_id), copy, $2, $3, seq FROM appended
        )
        SELECT ('duplicate item ' || at)::integer FROM given
        WHERE NOT EXISTS (SELECT FROM appended WHERE seq = $4 + at - 1)"
    );
    TRANSCRIPT = concat!(
        "WITH line AS (
            SELECT before.thread, before.upto
            FROM threads, unnest(lineage, uptos) AS before (thread, upto)
            WHERE tenant = $1 AND shard = $2 AND threads.thread = $3
            UNION ALL
            SELECT $3, $4::bigint
        )
        SELECT ", item_columns!(), "
        FROM line JOIN items ON items.thread = line.thread
        WHERE tenant = $1 AND shard = $2 AND seq < least(line.upto, $4)
        ORDER BY seq"
    );
    SIZES = "
        SELECT octet_length(body) FROM items
        WHERE tenant = $1 AND shard = $2 AND thread = $3 AND seq >= $4 AND seq < $5
          AND body IS NOT NULL
        ORDER BY seq LIMIT $6";
    SIZES_BACKWARDS = "
        SELECT octet_length(body) FROM items
        WHERE tenant = $1 AND shard = $2 AND thread = $3 AND seq >= $4 AND seq < $5
          AND body IS NOT NULL
        ORDER BY seq DESC LIMIT $6";
    RANGE = concat!(
        "SELECT ", item_columns!(), " FROM items
        WHERE tenant = $1 AND shard = $2 AND thread = $3 AND seq >= $4 AND seq < $5
          AND body IS NOT NULL
        ORDER BY seq LIMIT $6"
    );
    RANGE_BACKWARDS = concat!(
        "SELECT ", item_columns!(), " FROM items
        WHERE tenant = $1 AND shard = $2 AND thread = $3 AND seq >= $4 AND seq < $5
          AND body IS NOT NULL
        ORDER BY seq DESC LIMIT $6"
    );
    OUTPUT = concat!(
        "SELECT ", item_columns!(), "
        FROM responses JOIN items USING (tenant, shard, thread)
        WHERE tenant = $1 AND shard = $2 AND id = $3
          AND seq >= output_from AND seq < end_at AND body IS NOT NULL
        ORDER BY seq"
    );
    PLACE = "
        SELECT seq FROM items
        WHERE tenant = $1 AND shard = $2 AND thread = $3
          AND sha256(item_id) = sha256($4::bytea) AND body IS NOT NULL";
    FIND = concat!(
        "SELECT ", item_columns!(), "
        FROM conversations JOIN items USING (tenant, shard, thread)
        WHERE tenant = $1 AND shard = $2 AND id = $3
          AND sha256(item_id) = sha256($4::bytea) AND body IS NOT NULL"
    );
    ERASE = "
        UPDATE items SET body = NULL
        WHERE tenant = $1 AND shard = $2 AND thread = $3
          AND sha256(item_id) = sha256($4::bytea) AND body IS NOT NULL
        RETURNING copy";
    CUT = "
        WITH cut AS (
            DELETE FROM items WHERE tenant = $1 AND shard = $2 AND thread = $3 AND seq >= $4
            RETURNING item_id, copy
        )
        DELETE FROM item_places USING cut
        WHERE tenant = $1 AND item = sha256(cut.item_id) AND item_places.copy = cut.copy";
    SHIFT = "
        WITH moved AS (
            UPDATE items SET thread = $5
            WHERE tenant = $1 AND shard = $2 AND thread = $3 AND seq >= $4
            RETURNING item_id, copy
        )
        UPDATE item_places SET thread = $5 FROM moved
        WHERE tenant = $1 AND item = sha256(moved.item_id) AND item_places.copy = moved.copy";
    FIND_GENERATED = "
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
