//! Lists all data of a tenant, page by page.

use std::ops::Range;

use antiphon::HeldItem;
use bytes::Bytes;
use rusqlite::{Connection, Row, params};

use super::keys::{ThreadKey, position, seq_from_column, shard, thread, thread_from_column};
use super::ledger_names;
use super::responses::invalid_id;
use super::row::{self, item_columns};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant};
use crate::ledger_records::LedgerEntry;
use crate::records::{Conversation, Cursor, Seq};
use crate::snapshot::{BYTES, ItemPlace, ListedConversation, LooseItems, PAGE, STRIDE};

type Result<T> = std::result::Result<T, StoreError>;

/// A position in the order of ids: shard and text. [`BEFORE_ALL`] precedes every id.
type IdPosition<'a> = (i64, &'a str);

const BEFORE_ALL: IdPosition<'static> = (i64::MIN, "");

/// A page of conversations.
pub(super) fn conversations(
    db: &Connection,
    tenant: &Tenant,
    after: Option<&ConversationId>,
) -> Result<Vec<ListedConversation>> {
    const SQL: &str = "
        SELECT id, created_at, metadata, thread, tip, binds_late
        FROM conversations JOIN threads USING (tenant, shard, thread)
        WHERE tenant = ?1 AND (shard, id) > (?2, ?3)
        ORDER BY shard, id LIMIT ?4";
    let after = after.map_or(BEFORE_ALL, |id| (shard(id.shard()), id.as_str()));
    let page = db
        .prepare_cached(SQL)?
        .query_map(params![tenant.as_str(), after.0, after.1, PAGE], read_conversation)?
        .collect::<rusqlite::Result<_>>()?;
    Ok(page)
}

fn read_conversation(row: &Row<'_>) -> rusqlite::Result<ListedConversation> {
    let id = ConversationId::parse(row.get_ref(0)?.as_str()?).ok_or_else(|| invalid_id(0))?;
    let (thread, end) = (thread_from_column(row.get(3)?), seq_from_column(row.get(4)?));
    let end = Cursor { shard: id.shard(), thread, end };
    let metadata = Bytes::from(row.get::<_, Vec<u8>>(2)?);
    let conversation = Conversation { id, created_at: row.get(1)?, metadata };
    Ok(ListedConversation { conversation, end, binds_late: row.get(5)? })
}

/// A page of responses.
pub(super) fn responses(
    db: &Connection,
    tenant: &Tenant,
    after: Option<&ResponseId>,
) -> Result<Vec<ResponseId>> {
    const SQL: &str = "
        SELECT id FROM responses WHERE tenant = ?1 AND (shard, id) > (?2, ?3)
        ORDER BY shard, id LIMIT ?4";
    ids(db, SQL, tenant, after)
}

/// A page of pending turns.
pub(super) fn pending_turns(
    db: &Connection,
    tenant: &Tenant,
    after: Option<&ResponseId>,
) -> Result<Vec<ResponseId>> {
    const SQL: &str = "
        SELECT id FROM openings WHERE tenant = ?1 AND (shard, id) > (?2, ?3)
        ORDER BY shard, id LIMIT ?4";
    ids(db, SQL, tenant, after)
}

fn ids(
    db: &Connection,
    sql: &str,
    tenant: &Tenant,
    after: Option<&ResponseId>,
) -> Result<Vec<ResponseId>> {
    let after = after.map_or(BEFORE_ALL, |id| (shard(id.shard()), id.as_str()));
    let page = db
        .prepare_cached(sql)?
        .query_map(params![tenant.as_str(), after.0, after.1, PAGE], |row| {
            ResponseId::parse(row.get_ref(0)?.as_str()?).ok_or_else(|| invalid_id(0))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(page)
}

/// A page of ledgers, in the order of their names.
pub(super) fn ledgers(
    db: &Connection,
    tenant: &Tenant,
    after: Option<&str>,
) -> Result<Vec<(String, LedgerEntry)>> {
    const SQL: &str = "
        SELECT provider_id, upstream, kept, in_doubt FROM ledgers
        WHERE tenant = ?1 AND provider_id > ?2
        ORDER BY provider_id LIMIT ?3";
    let page = db
        .prepare_cached(SQL)?
        .query_map(params![tenant.as_str(), after.unwrap_or_default(), PAGE], |row| {
            Ok((row.get(0)?, ledger_names::read(row, 1)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(page)
}

/// The first items of a range, as many as one call returns.
pub(super) fn items(
    db: &Connection,
    key: ThreadKey<'_>,
    range: &Range<Seq>,
) -> Result<Vec<(Seq, HeldItem)>> {
    const SQL: &str = concat!(
        "SELECT ",
        item_columns!(),
        ", seq FROM items
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND seq >= ?4 AND seq < ?5
        ORDER BY seq LIMIT ?6"
    );
    let (start, end) = (position(range.start), position(range.end));
    let mut statement = db.prepare_cached(SQL)?;
    let given = params![key.tenant(), key.shard(), key.thread(), start, end, PAGE];
    let mut rows = statement.query(given)?;
    let (mut page, mut bytes) = (Vec::new(), 0);
    while bytes < BYTES
        && let Some(row) = rows.next()?
    {
        let item = row::read(row)?;
        bytes += item.body.bytes().map_or(0, Bytes::len);
        page.push((seq_from_column(row.get(row::COLUMNS)?), item));
    }
    Ok(page)
}

/// The loose items among the next places, and the last of these places.
pub(super) fn loose_items(
    db: &Connection,
    tenant: &Tenant,
    after: Option<ItemPlace>,
) -> Result<LooseItems> {
    let after = after.map_or((i64::MIN, i64::MIN, -1), |place| {
        (shard(place.shard), thread(place.thread), position(place.seq))
    });
    let mut statement = db.prepare_cached(LOOSE)?;
    let mut rows = statement.query(params![tenant.as_str(), after.0, after.1, after.2, STRIDE])?;
    let (mut items, mut bytes, mut last) = (Vec::new(), 0, None);
    while bytes < BYTES
        && let Some(row) = rows.next()?
    {
        let place = read_place(row)?;
        last = Some(place);
        if row.get(row::COLUMNS + 3)? {
            let item = row::read(row)?;
            bytes += item.body.bytes().map_or(0, Bytes::len);
            items.push((place, item));
        }
    }
    Ok((items, last))
}

fn read_place(row: &Row<'_>) -> rusqlite::Result<ItemPlace> {
    Ok(ItemPlace {
        shard: Shard(row.get::<_, i64>(row::COLUMNS)?.cast_unsigned()),
        thread: thread_from_column(row.get(row::COLUMNS + 1)?),
        seq: seq_from_column(row.get(row::COLUMNS + 2)?),
    })
}

/// The responses of a thread follow one another. Of those that end after an item, only the first
/// can contain it.
const LOOSE: &str = concat!(
    "SELECT ",
    item_columns!(),
    ", shard, thread, seq,
        NOT EXISTS (
            SELECT 1 FROM conversations
            WHERE tenant = ?1 AND conversations.shard = items.shard
              AND conversations.thread = items.thread
        ) AND coalesce(seq < (
            SELECT input_from FROM responses
            WHERE tenant = ?1 AND responses.shard = items.shard
              AND responses.thread = items.thread AND end_at > seq
            ORDER BY end_at, input_from LIMIT 1
        ), true)
    FROM items
    WHERE tenant = ?1 AND (shard, thread, seq) > (?2, ?3, ?4)
    ORDER BY shard, thread, seq LIMIT ?5"
);
