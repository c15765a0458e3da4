//! Lists all data of a tenant, page by page.

use std::ops::Range;

use antiphon::HeldItem;
use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::keys::{self, ThreadKey, position, seq_from_column, shard, thread, thread_from_column};
use super::ledger_names;
use super::responses::invalid_id;
use super::segments::{self, Entry, entry_columns};
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
        WHERE tenant = ?1 AND (shard, id) > (?2, ?3) AND first = 0x7fffffffffffffff
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

/// A page of responses, in the order of their threads.
pub(super) fn responses(
    db: &Connection,
    tenant: &Tenant,
    after: Option<&ResponseId>,
) -> Result<Vec<ResponseId>> {
    const SQL: &str = "
        SELECT id FROM threads CROSS JOIN segments ON number = segment
        WHERE tenant = ?1 AND response IS NOT NULL
          AND (shard, thread, threads.first, segment) > (?2, ?3, ?4, ?5)
        ORDER BY shard, thread, threads.first, segment LIMIT ?6";
    let (mut in_shard, mut thread_id, mut first, mut segment) = (i64::MIN, i64::MIN, 0, 0);
    if let Some(id) = after {
        let Some(place) = super::responses::place(db, tenant, id)? else { return Ok(Vec::new()) };
        (in_shard, thread_id) = (shard(id.shard()), thread(place.thread));
        (first, segment) = (position(place.entry.first), place.entry.segment);
    }
    let page = db
        .prepare_cached(SQL)?
        .query_map(params![tenant.as_str(), in_shard, thread_id, first, segment, PAGE], read_id)?
        .collect::<rusqlite::Result<_>>()?;
    Ok(page)
}

/// A page of pending turns.
pub(super) fn pending_turns(
    db: &Connection,
    tenant: &Tenant,
    after: Option<&ResponseId>,
) -> Result<Vec<ResponseId>> {
    const SQL: &str = "
        SELECT id FROM pending_turns WHERE tenant = ?1 AND (shard, id) > (?2, ?3)
        ORDER BY shard, id LIMIT ?4";
    let after = after.map_or(BEFORE_ALL, |id| (shard(id.shard()), id.as_str()));
    let page = db
        .prepare_cached(SQL)?
        .query_map(params![tenant.as_str(), after.0, after.1, PAGE], read_id)?
        .collect::<rusqlite::Result<_>>()?;
    Ok(page)
}

fn read_id(row: &Row<'_>) -> rusqlite::Result<ResponseId> {
    ResponseId::parse(row.get_ref(0)?.as_str()?).ok_or_else(|| invalid_id(0))
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
    let (mut page, mut bytes) = (Vec::new(), 0);
    for entry in segments::within(db, key, (range.start, range.end))? {
        for (seq, item) in entry.items(db)?.filter(|(seq, _)| range.contains(seq)) {
            if bytes >= BYTES || keys::limit(page.len()) >= PAGE {
                return Ok(page);
            }
            bytes += item.length();
            page.push((seq, item));
        }
    }
    Ok(page)
}

/// The loose items among the next places, and the last of these places.
pub(super) fn loose_items(
    db: &Connection,
    tenant: &Tenant,
    after: Option<ItemPlace>,
) -> Result<LooseItems> {
    let from = after.map_or((i64::MIN, i64::MIN, 0), |place| {
        (shard(place.shard), thread(place.thread), position(place.seq.saturating_add(1)))
    });
    let mut statement = db.prepare_cached(LOOSE)?;
    let mut rows = statement.query(params![tenant.as_str(), from.0, from.1, from.2, STRIDE])?;
    let (mut items, mut bytes, mut last) = (Vec::new(), 0, None);
    while bytes < BYTES
        && let Some(row) = rows.next()?
    {
        let (entry, end) = (Entry::read(row)?, row.get::<_, Option<i64>>(8)?);
        let (shard, thread) =
            (Shard(row.get::<_, i64>(5)?.cast_unsigned()), thread_from_column(row.get(6)?));
        let key = ThreadKey::new(tenant, shard, thread);
        let is_named: bool = row.get(7)?;
        if !is_named && end.map(seq_from_column) < Some(entry.end()) {
            for (seq, item) in entry.items(db)? {
                if is_outside_responses(db, key, seq)? {
                    bytes += item.length();
                    items.push((ItemPlace { shard, thread, seq }, item));
                }
            }
        }
        last = Some(ItemPlace { shard, thread, seq: entry.end().saturating_sub(1) });
    }
    Ok((items, last))
}

/// The responses of a thread follow one another. Of those that end after an item, only the first
/// can contain it.
fn is_outside_responses(db: &Connection, key: ThreadKey<'_>, seq: Seq) -> Result<bool> {
    const SQL: &str = "
        SELECT first FROM threads
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND end_at > ?4
        ORDER BY end_at, first LIMIT 1";
    let given = params![key.tenant(), key.shard(), key.thread(), position(seq)];
    let first: Option<i64> =
        db.prepare_cached(SQL)?.query_row(given, |row| row.get(0)).optional()?;
    Ok(first.is_none_or(|first| seq < seq_from_column(first)))
}

/// The next segments, whether a conversation names their threads, and the ends of their responses.
const LOOSE: &str = concat!(
    "SELECT ",
    entry_columns!(),
    ", shard, thread,
        EXISTS (
            SELECT 1 FROM conversations
            WHERE tenant = ?1 AND conversations.shard = threads.shard
              AND conversations.thread = threads.thread
        ), end_at
    FROM threads
    WHERE tenant = ?1 AND (shard, thread) >= (?2, ?3) AND held > 0
      AND (shard > ?2 OR thread > ?3 OR first + held > ?4)
    ORDER BY shard, thread, first LIMIT ?5"
);
