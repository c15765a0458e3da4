//! Appends items, reads them by range or id, and erases them.

use std::ops::Range;

use antiphon::{Body, HeldItem, ItemId};
use bytes::Bytes;
use futures_util::future;
use tokio_postgres::Row;

use super::failure::Failure;
use super::segments::{self, Batch, Segment};
use super::session::Session;
use super::statements::statements;
use super::{item_ids, responses};
use crate::encoding;
use crate::ids::{ResponseId, Tenant};
use crate::keys::{self, ThreadKey, position, response_number, seq_from_column, shard};
use crate::records::{Cursor, ItemPage, Order, PageRequest, ResponseRecord, Seq};

type Result<T> = std::result::Result<T, Failure>;

/// The number of segments that a page loads at once.
const SEGMENTS: i64 = 16;

/// Appends items from position `start` on. If the thread already has an item's id, or the id is
/// given twice, the server rejects the statement, and the error names that item.
pub(super) async fn append<'a>(
    db: &Session,
    key: ThreadKey<'_>,
    start: Seq,
    items: impl Iterator<Item = &'a HeldItem>,
) -> Result<()> {
    segments::append(db, key, start, items, None).await
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
    let rows = db.rows(&TRANSCRIPT, &[&given.0, &given.1, &given.2, &given.3]).await?;
    read_transcript(&rows)
}

/// The record of a response, and all items up to its end. Sends both statements together.
pub(super) async fn response_with_transcript(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Option<(ResponseRecord, Vec<HeldItem>)>> {
    let given = responses::key(tenant, id);
    let items = async {
        let rows = db.rows(&RESPONSE_TRANSCRIPT, &[&given.0, &given.1, &given.2, &given.3]).await?;
        read_transcript(&rows)
    };
    let (record, items) = future::join(responses::find(db, tenant, id), items).await;
    let Some(record) = record? else { return Ok(None) };
    Ok(Some((record, items?)))
}

fn read_transcript(rows: &[Row]) -> Result<Vec<HeldItem>> {
    let mut items = Vec::new();
    for row in rows {
        items.extend(read_range(row)?.map(|(_, item)| item));
    }
    Ok(items)
}

/// Reads the items of a segment up to a position, from the columns of its first position, of that
/// position, and of its items.
fn read_range(row: &Row) -> Result<impl Iterator<Item = (Seq, HeldItem)> + use<>> {
    let range = seq_from_column(row.get(0))..seq_from_column(row.get(1));
    Ok(range.zip(encoding::decode(Bytes::copy_from_slice(row.get(2)))?))
}

/// The live items at the start or end of a range, as many as fit on the page. Loads a few segments
/// at once.
pub(super) async fn page(
    db: &Session,
    key: ThreadKey<'_>,
    range: &Range<Seq>,
    page: &PageRequest,
) -> Result<ItemPage> {
    let (mut left, mut items) = (range.clone(), Vec::new());
    loop {
        let count = page.count_fitting(items.iter().map(HeldItem::length)).min(items.len());
        let batch = match count == items.len() && !left.is_empty() {
            true => load_batch(db, key, &mut left, page).await?,
            false => Vec::new(),
        };
        if batch.is_empty() {
            let has_more = count < items.len();
            items.truncate(count);
            return Ok(ItemPage { items, has_more });
        }
        for segment in batch {
            let mut live = live_within(&segment, range)?;
            if page.order == Order::Descending {
                live.reverse();
            }
            items.extend(live);
        }
    }
}

/// The next segments in the order of the page. Takes their positions from `left`.
async fn load_batch(
    db: &Session,
    key: ThreadKey<'_>,
    left: &mut Range<Seq>,
    page: &PageRequest,
) -> Result<Vec<Segment>> {
    let limit = Batch { segments: SEGMENTS, bytes: keys::limit(page.max_bytes.max(1)) };
    let batch = segments::batch(db, key, left, page.order, limit).await?;
    match (page.order, batch.last()) {
        (Order::Ascending, Some(last)) => left.start = last.end(),
        (Order::Descending, Some(last)) => left.end = last.first,
        (_, None) => {}
    }
    Ok(batch)
}

fn live_within(segment: &Segment, range: &Range<Seq>) -> Result<Vec<HeldItem>> {
    let items = segment.items()?.filter(|(seq, item)| range.contains(seq) && !item.is_tombstone());
    Ok(items.map(|(_, item)| item).collect())
}

/// The live items of a response's output.
pub(super) async fn output(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Vec<HeldItem>> {
    let given = (tenant.as_str(), shard(id.shard()), response_number(id), id.as_str());
    let mut items = Vec::new();
    for row in db.rows(&OUTPUT, &[&given.0, &given.1, &given.2, &given.3]).await? {
        let output_from = seq_from_column(row.get(3));
        let output = read_range(&row)?.filter(|(seq, _)| *seq >= output_from);
        items.extend(output.map(|(_, item)| item).filter(|item| !item.is_tombstone()));
    }
    Ok(items)
}

/// Erases the bytes of a live item and leaves a tombstone. Returns whether the item existed.
pub(super) async fn erase(db: &Session, key: ThreadKey<'_>, id: &ItemId) -> Result<bool> {
    let Some(place) = item_ids::place(db, key, id).await? else { return Ok(false) };
    item_ids::mark_erased(db, key, id, place).await?;
    for segment in segments::within(db, key, &(place..place + 1)).await? {
        let erased = |(seq, item): (Seq, HeldItem)| match seq == place {
            true => HeldItem { body: Body::Erased, ..item },
            false => item,
        };
        let items: Vec<HeldItem> = segment.items()?.map(erased).collect();
        segments::rewrite(db, key, &segment, &items).await?;
    }
    Ok(true)
}

statements! {
    TRANSCRIPT = "
        WITH line AS (
            SELECT before.thread, before.upto
            FROM threads, unnest(lineage, uptos) AS before (thread, upto)
            WHERE tenant = $1 AND shard = $2 AND threads.thread = $3
            UNION ALL
            SELECT $3, $4::bigint
        )
        SELECT first, least(line.upto, $4), items
        FROM line JOIN segments ON segments.thread = line.thread
        WHERE tenant = $1 AND shard = $2 AND held > 0 AND first < least(line.upto, $4)
        ORDER BY first";
    RESPONSE_TRANSCRIPT = "
        WITH found AS (
            SELECT thread, end_at FROM segments
            WHERE tenant = $1 AND shard = $2 AND response = $3 AND id = $4
        ), line AS (
            SELECT before.thread, before.upto
            FROM found JOIN threads USING (thread), unnest(lineage, uptos) AS before (thread, upto)
            WHERE tenant = $1 AND shard = $2
            UNION ALL
            SELECT thread, end_at FROM found
        )
        SELECT first, least(line.upto, found.end_at), items
        FROM found, line JOIN segments ON segments.thread = line.thread
        WHERE tenant = $1 AND shard = $2 AND held > 0 AND first < least(line.upto, found.end_at)
        ORDER BY first";
    OUTPUT = "
        SELECT segments.first, response.end_at, segments.items, response.output_from
        FROM segments AS response JOIN segments USING (tenant, shard, thread)
        WHERE tenant = $1 AND shard = $2 AND response.response = $3 AND response.id = $4
          AND segments.held > 0 AND segments.first >= response.first
          AND segments.first < response.end_at
        ORDER BY segments.first";
}
