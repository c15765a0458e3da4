//! Lists all data of a tenant, page by page.

use std::ops::Range;

use antiphon::HeldItem;
use bytes::Bytes;
use tokio_postgres::Row;

use super::failure::Failure;
use super::responses::invalid_id;
use super::row;
use super::segments::Batch;
use super::session::Session;
use super::statements::statements;
use super::{ledger_names, responses, segments};
use crate::ids::{ConversationId, ResponseId, Shard, Tenant};
use crate::keys::{self, ThreadKey, position, seq_from_column, shard, thread, thread_from_column};
use crate::ledger_records::LedgerEntry;
use crate::records::{Conversation, Cursor, Order, Seq};
use crate::snapshot::{BYTES, ItemPlace, ListedConversation, LooseItems, PAGE, STRIDE};

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

/// A page of responses, in the order of their threads.
pub(super) async fn responses(
    db: &Session,
    tenant: &Tenant,
    after: Option<&ResponseId>,
) -> Result<Vec<ResponseId>> {
    let mut from = (i64::MIN, i64::MIN, -1_i64, 0_i64);
    if let Some(id) = after {
        let given = responses::key(tenant, id);
        let found = db.row(&PLACE, &[&given.0, &given.1, &given.2, &given.3]).await?;
        let Some(row) = found else { return Ok(Vec::new()) };
        from = (given.1, row.get(0), row.get(1), row.get(2));
    }
    let rows =
        db.rows(&RESPONSES, &[&tenant.as_str(), &from.0, &from.1, &from.2, &from.3, &PAGE]).await?;
    rows.iter().map(|row| ResponseId::parse(row.get(0)).ok_or_else(invalid_id)).collect()
}

/// A page of pending turns.
pub(super) async fn pending_turns(
    db: &Session,
    tenant: &Tenant,
    after: Option<&ResponseId>,
) -> Result<Vec<ResponseId>> {
    let after = after.map_or(BEFORE_ALL, |id| (shard(id.shard()), id.as_str()));
    let rows = db.rows(&OPEN_TURNS, &[&tenant.as_str(), &after.0, &after.1, &PAGE]).await?;
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
    let limit = Batch { segments: PAGE, bytes: keys::limit(BYTES) };
    let (mut page, mut bytes) = (Vec::new(), 0);
    for segment in segments::batch(db, key, range, Order::Ascending, limit).await? {
        for (seq, item) in segment.items()?.filter(|(seq, _)| range.contains(seq)) {
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
pub(super) async fn loose_items(
    db: &Session,
    tenant: &Tenant,
    after: Option<ItemPlace>,
) -> Result<LooseItems> {
    let from = after.map_or((i64::MIN, i64::MIN, 0), |place| {
        (shard(place.shard), thread(place.thread), position(place.seq.saturating_add(1)))
    });
    let given = (tenant.as_str(), from.0, from.1, from.2);
    let rows = db.rows(&LOOSE, &[&given.0, &given.1, &given.2, &given.3, &STRIDE]).await?;
    let (mut items, mut bytes, mut last) = (Vec::new(), 0, None);
    for row in rows {
        if bytes >= BYTES {
            break;
        }
        let place = read_last_place(&row);
        last = Some(place);
        if row.get(4) {
            let loose = loose_within(db, tenant, place, seq_from_column(row.get(2))).await?;
            bytes += loose.iter().map(|(_, item)| item.length()).sum::<usize>();
            items.extend(loose);
        }
    }
    Ok((items, last))
}

/// The loose items of the segment from `first` to its last place.
async fn loose_within(
    db: &Session,
    tenant: &Tenant,
    last: ItemPlace,
    first: Seq,
) -> Result<Vec<(ItemPlace, HeldItem)>> {
    let key = ThreadKey::new(tenant, last.shard, last.thread);
    let mut loose = Vec::new();
    for segment in segments::within(db, key, &(first..last.seq.saturating_add(1))).await? {
        for (seq, item) in segment.items()? {
            if is_outside_responses(db, key, seq).await? {
                loose.push((ItemPlace { seq, ..last }, item));
            }
        }
    }
    Ok(loose)
}

/// The responses of a thread follow one another. Of those that end after an item, only the first
/// can contain it.
async fn is_outside_responses(db: &Session, key: ThreadKey<'_>, seq: Seq) -> Result<bool> {
    let given = (key.tenant(), key.shard(), key.thread(), position(seq));
    let found = db.row(&NEXT_RESPONSE, &[&given.0, &given.1, &given.2, &given.3]).await?;
    Ok(found.is_none_or(|row| seq < seq_from_column(row.get(0))))
}

/// Reads the last place of a segment.
fn read_last_place(row: &Row) -> ItemPlace {
    let end = seq_from_column(row.get(2)).saturating_add(seq_from_column(row.get(3)));
    ItemPlace {
        shard: Shard(row.get::<_, i64>(0).cast_unsigned()),
        thread: thread_from_column(row.get(1)),
        seq: end.saturating_sub(1),
    }
}

statements! {
    CONVERSATIONS = "
        SELECT id, created_at, metadata, thread, tip, binds_late
        FROM conversations JOIN threads USING (tenant, shard, thread)
        WHERE tenant = $1 AND (shard, id) > ($2, $3)
        ORDER BY shard, id LIMIT $4";
    PLACE = "
        SELECT thread, first, number FROM segments
        WHERE tenant = $1 AND shard = $2 AND response = $3 AND id = $4";
    RESPONSES = "
        SELECT id FROM segments
        WHERE tenant = $1 AND id IS NOT NULL
          AND (shard, thread, first, number) > ($2, $3, $4, $5)
        ORDER BY shard, thread, first, number LIMIT $6";
    LEDGERS = "
        SELECT provider_id, upstream, kept, in_doubt FROM ledgers
        WHERE tenant = $1 AND name > coalesce(sha256($2::bytea), '')
        ORDER BY name LIMIT $3";
    OPEN_TURNS = "
        SELECT id FROM pending_turns WHERE tenant = $1 AND (shard, id) > ($2, $3)
        ORDER BY shard, id LIMIT $4";
    NEXT_RESPONSE = "
        SELECT first FROM segments
        WHERE tenant = $1 AND shard = $2 AND thread = $3 AND end_at > $4
        ORDER BY end_at, first LIMIT 1";
    /// The next segments, and whether they may have loose items.
    LOOSE = "
        SELECT shard, thread, first, held,
            coalesce(end_at, 0) < first + held AND NOT EXISTS (
                SELECT FROM conversations
                WHERE tenant = $1 AND conversations.shard = segments.shard
                  AND conversations.thread = segments.thread
            )
        FROM segments
        WHERE tenant = $1 AND (shard, thread) >= ($2, $3) AND held > 0
          AND (shard > $2 OR thread > $3 OR first + held > $4)
        ORDER BY shard, thread, first LIMIT $5";
}
