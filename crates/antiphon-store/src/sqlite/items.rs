//! Appends items, reads them by range or id, and erases them.

use std::ops::Range;

use antiphon::{Body, HeldItem, ItemId};
use rusqlite::{Connection, Row, params};

use super::item_ids;
use super::keys::{ThreadKey, position, seq_from_column};
use super::segments::{self, Entry};
use crate::encoding;
use crate::error::StoreError;
use crate::ids::Tenant;
use crate::records::{Cursor, ItemPage, Order, PageRequest, Seq};

type Result<T> = std::result::Result<T, StoreError>;

/// Appends `items` from position `start` on. Returns the position after the last.
pub(super) fn append(
    db: &Connection,
    key: ThreadKey<'_>,
    start: Seq,
    items: &[HeldItem],
) -> Result<Seq> {
    segments::append(db, key, start, items, None)
}

/// All items before `cursor`, tombstones included. Sequence numbers increase along a lineage, so
/// their order is that of the transcript.
pub(super) fn transcript(
    db: &Connection,
    tenant: &Tenant,
    cursor: Cursor,
) -> Result<Vec<HeldItem>> {
    let key = ThreadKey::from_cursor(tenant, cursor);
    let given = params![key.tenant(), key.shard(), key.thread(), position(cursor.end)];
    let mut statement = db.prepare_cached(TRANSCRIPT)?;
    let row = |row: &Row<'_>| {
        Ok((seq_from_column(row.get(0)?)..seq_from_column(row.get(1)?), row.get(2)?))
    };
    let mut read: Vec<(Range<Seq>, Vec<u8>)> =
        statement.query_map(given, row)?.collect::<rusqlite::Result<_>>()?;
    // The rows come in the order of the join's loops. If SQLite ever chooses another order, this
    // sort restores it. On sorted rows it is a single pass.
    read.sort_by_key(|(range, _)| range.start);
    let mut items = Vec::new();
    for (range, encoded) in read {
        items.extend(range.zip(encoding::decode(encoded.into())?).map(|(_, item)| item));
    }
    Ok(items)
}

const TRANSCRIPT: &str = "
    WITH line (id, upto) AS (
        SELECT entry.value ->> 0, entry.value ->> 1
        FROM threads CROSS JOIN json_each(threads.lineage) AS entry
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND threads.first = 0x7fffffffffffffff
        UNION ALL
        SELECT ?3, ?4
    )
    SELECT threads.first, min(line.upto, ?4), items
    FROM line CROSS JOIN threads CROSS JOIN segments ON number = segment
    WHERE tenant = ?1 AND shard = ?2 AND thread = line.id AND held > 0
      AND threads.first BETWEEN 0 AND min(line.upto, ?4) - 1";

/// The live items of a range, oldest first.
pub(super) fn range(
    db: &Connection,
    key: ThreadKey<'_>,
    range: &Range<Seq>,
) -> Result<Vec<HeldItem>> {
    let mut items = Vec::new();
    for entry in segments::within(db, key, (range.start, range.end))? {
        items.extend(live_within(&entry, db, range)?);
    }
    Ok(items)
}

/// The live items at the start or end of a range, as many as fit on the page.
///
/// Loads whole segments. A large item has a segment of its own, which is not loaded if the item
/// does not fit.
pub(super) fn page(
    db: &Connection,
    key: ThreadKey<'_>,
    range: &Range<Seq>,
    page: &PageRequest,
) -> Result<ItemPage> {
    let sql = match page.order {
        Order::Ascending => segments::ASCENDING,
        Order::Descending => segments::DESCENDING,
    };
    let mut statement = db.prepare_cached(sql)?;
    let (from, end) = (position(range.start), position(range.end));
    let mut entries =
        statement.query(params![key.tenant(), key.shard(), key.thread(), from, end])?;
    let (mut items, mut bytes, mut has_more) = (Vec::new(), 0_usize, false);
    while items.len() <= page.limit
        && let Some(row) = entries.next()?
    {
        let entry = Entry::read(row)?;
        let size = usize::try_from(entry.live.bytes).unwrap_or(usize::MAX);
        let is_one = entry.held == 1 && entry.live.items == 1;
        has_more = is_one && !items.is_empty() && bytes.saturating_add(size) > page.max_bytes;
        if has_more {
            break;
        }
        let mut more: Vec<HeldItem> = live_within(&entry, db, range)?.collect();
        has_more = bytes > page.max_bytes && !more.is_empty();
        if has_more {
            break;
        }
        if page.order == Order::Descending {
            more.reverse();
        }
        bytes = more.iter().map(HeldItem::length).fold(bytes, usize::saturating_add);
        items.extend(more);
    }
    let count = page.count_fitting(items.iter().map(HeldItem::length)).min(items.len());
    has_more |= count < items.len();
    items.truncate(count);
    Ok(ItemPage { items, has_more })
}

fn live_within(
    entry: &Entry,
    db: &Connection,
    range: &Range<Seq>,
) -> Result<impl Iterator<Item = HeldItem>> {
    let items = entry.items(db)?.filter(|(seq, item)| range.contains(seq) && !item.is_tombstone());
    Ok(items.map(|(_, item)| item))
}

/// The position of the live item with this id in a thread.
pub(super) fn place(db: &Connection, key: ThreadKey<'_>, id: &ItemId) -> Result<Option<Seq>> {
    Ok(item_ids::find(db, key, id)?.map(|place| place.seq))
}

/// The live item with this id in a thread.
pub(super) fn find(db: &Connection, key: ThreadKey<'_>, id: &ItemId) -> Result<Option<HeldItem>> {
    match item_ids::find(db, key, id)? {
        Some(place) => place.item(db),
        None => Ok(None),
    }
}

/// The newest live copy of this item, in any thread of the tenant, whose bytes are in this store,
/// or the newest tombstone if no copy is live. `None` if the item is live only at a provider.
pub(super) fn newest(db: &Connection, tenant: &Tenant, id: &ItemId) -> Result<Option<HeldItem>> {
    match item_ids::newest(db, tenant, id)? {
        Some(place) => place.item(db),
        None => Ok(None),
    }
}

/// Erases the bytes of a live item and leaves a tombstone. Returns whether the item existed.
pub(super) fn erase(db: &Connection, key: ThreadKey<'_>, id: &ItemId) -> Result<bool> {
    let Some(place) = item_ids::find(db, key, id)? else { return Ok(false) };
    item_ids::mark_erased(db, key, id, place.seq)?;
    for entry in segments::within(db, key, (place.seq, place.seq + 1))? {
        let erased = |(seq, item): (Seq, HeldItem)| match seq == place.seq {
            true => HeldItem { body: Body::Erased, ..item },
            false => item,
        };
        let items: Vec<HeldItem> = entry.items(db)?.map(erased).collect();
        segments::rewrite(db, key, &entry, &items)?;
    }
    Ok(true)
}
