//! Lists all data of a tenant, page by page.

use std::ops::Range;

use antiphon::HeldItem;
use bytes::Bytes;
use tokio_postgres::Row;

use super::failure::Failure;
use super::ledger_names;
use super::responses::invalid_id;
use super::row::{self, item_columns};
use super::session::Session;
use super::statements::{Sql, statements};
use crate::ids::{ConversationId, ResponseId, Shard, Tenant};
use crate::keys::{ThreadKey, position, seq_from_column, shard, thread, thread_from_column};
use crate::ledger_records::LedgerEntry;
use crate::records::{Conversation, Cursor, Seq};
use crate::snapshot::{BYTES, ItemPlace, ListedConversation, LooseItems, PAGE, STRIDE, fitting};

type Result<T> = std::result::Result<T, Failure>;

/// A position in the order of ids: shard and text. [`BEFORE_ALL`] precedes every id.
type IdPosition<'a> = (i64, &'a str);

const BEFORE_ALL: IdPosition<'static> = (i64::MIN, "");

/// A page of conversations.
pub(super) async fn conversations(
    db: &Session,
    tenant: &Tenant,
    after: Option<&ConversationId>,
) -> Result<Vec<ListedConversation>> {
    let after = after.map_or(BEFORE_ALL, |id| (shard(id.shard()), id.as_str()));
    let rows = db.rows(&CONVERSATIONS, &[&tenant.as_str(), &after.0, &after.1, &PAGE]).await?;
    rows.iter().map(read_conversation).collect()
}

fn read_conversation(row: &Row) -> Result<ListedConversation> {
    let id = ConversationId::parse(row.get(0)).ok_or_else(invalid_id)?;
    let (thread, end) = (thread_from_column(row.get(3)), seq_from_column(row.get(4)));
    let end = Cursor { shard: id.shard(), thread, end };
    let metadata = Bytes::copy_from_slice(row.get(2));
    let conversation = Conversation { id, created_at: row.get(1), metadata };
    Ok(ListedConversation { conversation, end, binds_late: row.get(5) })
}

/// A page of responses.
pub(super) async fn responses(
    db: &Session,
    tenant: &Tenant,
    after: Option<&ResponseId>,
) -> Result<Vec<ResponseId>> {
    ids(db, &RESPONSES, tenant, after).await
}

/// A page of pending turns.
pub(super) async fn pending_turns(
    db: &Session,
    tenant: &Tenant,
    after: Option<&ResponseId>,
) -> Result<Vec<ResponseId>> {
    ids(db, &OPEN_TURNS, tenant, after).await
}

async fn ids(
    db: &Session,
    sql: &Sql,
    tenant: &Tenant,
    after: Option<&ResponseId>,
) -> Result<Vec<ResponseId>> {
    let after = after.map_or(BEFORE_ALL, |id| (shard(id.shard()), id.as_str()));
    let rows = db.rows(sql, &[&tenant.as_str(), &after.0, &after.1, &PAGE]).await?;
    rows.iter().map(|row| ResponseId::parse(row.get(0)).ok_or_else(invalid_id)).collect()
}

/// A page of ledgers, in the order of their names' digests.
pub(super) async fn ledgers(
    db: &Session,
    tenant: &Tenant,
    after: Option<&str>,
) -> Result<Vec<(String, LedgerEntry)>> {
    let after = after.map(str::as_bytes);
    let rows = db.rows(&LEDGERS, &[&tenant.as_str(), &after, &PAGE]).await?;
    rows.iter()
        .map(|row| Ok((row::text(row.get(0))?.to_owned(), ledger_names::read(row, 1)?)))
        .collect()
}

/// The first items of a range, as many as one call returns.
pub(super) async fn items(
    db: &Session,
    key: ThreadKey<'_>,
    range: &Range<Seq>,
) -> Result<Vec<(Seq, HeldItem)>> {
    let (start, end) = (position(range.start), position(range.end));
    let given = (key.tenant(), key.shard(), key.thread());
    let sizes = db.rows(&SIZES, &[&given.0, &given.1, &given.2, &start, &end, &PAGE]).await?;
    let count = i64::try_from(fitting(sizes.iter().map(|row| size(row, 0)))).unwrap_or(PAGE);
    let rows = db.rows(&ITEMS, &[&given.0, &given.1, &given.2, &start, &end, &count]).await?;
    rows.iter().map(|row| Ok((seq_from_column(row.get(row::COLUMNS)), row::read(row)?))).collect()
}

/// The loose items among the next places, and the last of these places.
pub(super) async fn loose_items(
    db: &Session,
    tenant: &Tenant,
    after: Option<ItemPlace>,
) -> Result<LooseItems> {
    let after = after.map_or((i64::MIN, i64::MIN, -1), |place| {
        (shard(place.shard), thread(place.thread), position(place.seq))
    });
    let given = (tenant.as_str(), after.0, after.1, after.2);
    let rows = db.rows(&LOOSE, &[&given.0, &given.1, &given.2, &given.3, &STRIDE]).await?;
    let (mut items, mut bytes, mut last) = (Vec::new(), 0, None);
    for row in rows {
        if bytes >= BYTES {
            break;
        }
        let place = read_place(&row);
        last = Some(place);
        if row.get(4) {
            bytes += size(&row, 3);
            items.extend(item_at(db, tenant, place).await?.map(|item| (place, item)));
        }
    }
    Ok((items, last))
}

async fn item_at(db: &Session, tenant: &Tenant, place: ItemPlace) -> Result<Option<HeldItem>> {
    let key = ThreadKey::new(tenant, place.shard, place.thread);
    let range = place.seq..place.seq.saturating_add(1);
    Ok(items(db, key, &range).await?.pop().map(|(_, item)| item))
}

fn read_place(row: &Row) -> ItemPlace {
    ItemPlace {
        shard: Shard(row.get::<_, i64>(0).cast_unsigned()),
        thread: thread_from_column(row.get(1)),
        seq: seq_from_column(row.get(2)),
    }
}

/// The size of a body: zero for a tombstone.
fn size(row: &Row, column: usize) -> usize {
    let size: Option<i32> = row.get(column);
    size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0)
}

statements! {
    CONVERSATIONS = "
        SELECT id, created_at, metadata, thread, tip, binds_late
        FROM conversations JOIN threads USING (tenant, shard, thread)
        WHERE tenant = $1 AND (shard, id) > ($2, $3)
        ORDER BY shard, id LIMIT $4";
    RESPONSES = "
        SELECT id FROM responses WHERE tenant = $1 AND (shard, id) > ($2, $3)
        ORDER BY shard, id LIMIT $4";
    LEDGERS = "
        SELECT provider_id, upstream, kept, in_doubt FROM ledgers
        WHERE tenant = $1 AND name > coalesce(sha256($2::bytea), '')
        ORDER BY name LIMIT $3";
    OPEN_TURNS = "
        SELECT id FROM openings WHERE tenant = $1 AND (shard, id) > ($2, $3)
        ORDER BY shard, id LIMIT $4";
    SIZES = "
        SELECT octet_length(body) FROM items
        WHERE tenant = $1 AND shard = $2 AND thread = $3 AND seq >= $4 AND seq < $5
        ORDER BY seq LIMIT $6";
    ITEMS = concat!(
        "SELECT ", item_columns!(), ", seq FROM items
        WHERE tenant = $1 AND shard = $2 AND thread = $3 AND seq >= $4 AND seq < $5
        ORDER BY seq LIMIT $6"
    );
    /// The responses of a thread follow one another. Of those that end after an item, only the
    /// first can contain it.
    LOOSE = "
        SELECT shard, thread, seq, octet_length(body),
            NOT EXISTS (
                SELECT FROM conversations
                WHERE tenant = $1 AND conversations.shard = items.shard
                  AND conversations.thread = items.thread
            ) AND coalesce(seq < (
                SELECT input_from FROM responses
                WHERE tenant = $1 AND responses.shard = items.shard
                  AND responses.thread = items.thread AND end_at > seq
                ORDER BY end_at, input_from LIMIT 1
            ), true)
        FROM items
        WHERE tenant = $1 AND (shard, thread, seq) > ($2, $3, $4)
        ORDER BY shard, thread, seq LIMIT $5";
}
