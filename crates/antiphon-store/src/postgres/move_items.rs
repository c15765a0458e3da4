//! Moves the rows of items, responses and pending turns into segments: a step of the schema.
//!
//! Reads through cursors and moves a few turns at a time, so a database of any size needs little
//! memory.

use antiphon::HeldItem;
use bytes::Bytes;
use futures_util::future;
use tokio_postgres::{Client, Row, Statement};

use super::failure::Failure;
use super::responses::read_new;
use super::row;
use crate::encoding;
use crate::ids::ConversationId;
use crate::item_columns::{ItemColumns, item_columns};
use crate::keys::{position, request_number, response_number, seq_from_column};
use crate::records::{RequestDigest, Seq};
use crate::usage::Usage;

type Result<T> = std::result::Result<T, Failure>;

/// A cursor fetches a few rows at once, which are then moved at once.
const FETCH: &str = "FETCH 24 FROM rows";

/// The number of items of a run that are in memory at once.
const RUN: usize = 64;

/// The number of item columns.
const COLUMNS: usize = 9;

/// Fills the tables of `segments.sql` from those of earlier releases.
pub(super) async fn move_items(client: &Client) -> Result<()> {
    let writer = SegmentWriter { client, insert: client.prepare(INSERT).await? };
    move_responses(&writer).await?;
    move_loose_items(&writer).await?;
    client.batch_execute(ITEM_IDS).await?;
    move_pending_turns(client).await
}

/// The key of a thread.
type Key = (String, i64, i64);

struct SegmentWriter<'a> {
    client: &'a Client,
    insert: Statement,
}

impl SegmentWriter<'_> {
    /// Writes items from position `first` on, and the response that begins there.
    async fn write(
        &self,
        key: &Key,
        mut first: Seq,
        items: &[HeldItem],
        mut response: Option<&Row>,
    ) -> Result<()> {
        let mut items = items.iter().peekable();
        while response.is_some() || items.peek().is_some() {
            let (encoded, taken) = encoding::fill(&mut items);
            let held = taken.len() as u64;
            self.insert(key, first, (&encoded, held, Usage::from_items(taken)), response.take())
                .await?;
            first = first.saturating_add(held);
        }
        Ok(())
    }

    async fn insert(
        &self,
        key: &Key,
        first: Seq,
        (encoded, held, live): (&[u8], u64, Usage),
        response: Option<&Row>,
    ) -> Result<()> {
        let new = response.map(read_new).transpose()?;
        let request = response.and_then(|row| row.get::<_, Option<&[u8]>>(11));
        let digest = request.map(row::sixteen).transpose()?.map(RequestDigest);
        let copy = new.as_ref().and_then(|new| new.copy.as_ref());
        self.client
            .execute(
                &self.insert,
                &[
                    &key.0,
                    &key.1,
                    &key.2,
                    &position(first),
                    &position(held),
                    &position(live.items),
                    &position(live.bytes),
                    &encoded,
                    &new.as_ref().map_or(0, |new| response_number(&new.id)),
                    &digest.as_ref().map_or(0, request_number),
                    &new.as_ref().map(|new| new.id.as_str()),
                    &new.as_ref()
                        .and_then(|new| new.conversation.as_ref())
                        .map(ConversationId::as_str),
                    &new.as_ref().map(|new| new.created_at),
                    &response.map(|row| row.get::<_, i64>(9)),
                    &response.map(|row| row.get::<_, i64>(10)),
                    &request,
                    &copy.map(|copy| copy.expires_at),
                    &new.as_ref().map(|new| &*new.envelope),
                    &new.as_ref().map(|new| &*new.report),
                    &copy.map(|copy| &*copy.sealed),
                ],
            )
            .await?;
        Ok(())
    }
}

const INSERT: &str = "
    INSERT INTO segments (tenant, shard, thread, first, number, held, live, bytes, items, response,
                          request, id, conversation, created_at, output_from, end_at, digest,
                          copy_until, envelope, report, copy)
    VALUES ($1, $2, $3, $4, nextval('copies'), $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
            $16, $17, $18, $19, $20)";

/// Moves the responses with their items, oldest first.
async fn move_responses(writer: &SegmentWriter<'_>) -> Result<()> {
    let client = writer.client;
    let items = client.prepare(ITEMS).await?;
    client.batch_execute(RESPONSES).await?;
    loop {
        let rows = client.query(FETCH, &[]).await?;
        if rows.is_empty() {
            break;
        }
        let moved = rows.iter().map(|row| move_response(writer, &items, row));
        future::try_join_all(moved).await?;
    }
    Ok(client.batch_execute("CLOSE rows").await?)
}

async fn move_response(writer: &SegmentWriter<'_>, items: &Statement, row: &Row) -> Result<()> {
    let key: Key = (row.get(12), row.get(13), row.get(7));
    let (from, end): (i64, i64) = (row.get(8), row.get(10));
    let held = writer.client.query(items, &[&key.0, &key.1, &key.2, &from, &end]).await?;
    let held: Vec<HeldItem> = held.iter().map(read_item).collect::<Result<_>>()?;
    writer.write(&key, seq_from_column(from), &held, Some(row)).await
}

const RESPONSES: &str = "
    DECLARE rows NO SCROLL CURSOR FOR
    SELECT id, conversation, created_at, envelope, report, copy, copy_until,
           thread, input_from, output_from, end_at, request, tenant, shard
    FROM responses ORDER BY ordinal";

const ITEMS: &str = concat!(
    "SELECT ",
    item_columns!(),
    " FROM items
    WHERE tenant = $1 AND shard = $2 AND thread = $3 AND seq >= $4 AND seq < $5 ORDER BY seq"
);

/// Moves the items that no response contains. Of the responses of a thread that end after an item,
/// only the first can contain it.
async fn move_loose_items(writer: &SegmentWriter<'_>) -> Result<()> {
    writer.client.batch_execute(LOOSE_ITEMS).await?;
    let mut run: Option<Run> = None;
    loop {
        let rows = writer.client.query(FETCH, &[]).await?;
        if rows.is_empty() {
            break;
        }
        for row in rows {
            let next = Run::read(&row)?;
            match &mut run {
                Some(run) if run.is_continued_by(&next) => run.items.extend(next.items),
                ended => {
                    if let Some(run) = ended.replace(next) {
                        run.write(writer).await?;
                    }
                }
            }
        }
    }
    if let Some(run) = run {
        run.write(writer).await?;
    }
    Ok(writer.client.batch_execute("CLOSE rows").await?)
}

const LOOSE_ITEMS: &str = concat!(
    "DECLARE rows NO SCROLL CURSOR FOR SELECT ",
    item_columns!(),
    ", tenant, shard, thread, seq FROM items
    WHERE coalesce(seq < (
        SELECT input_from FROM responses
        WHERE responses.tenant = items.tenant AND responses.shard = items.shard
          AND responses.thread = items.thread AND end_at > seq
        ORDER BY end_at, input_from LIMIT 1
    ), true)
    ORDER BY tenant, shard, thread, seq"
);

/// Consecutive items of a thread.
struct Run {
    key: Key,
    start: Seq,
    items: Vec<HeldItem>,
}

impl Run {
    fn read(row: &Row) -> Result<Self> {
        Ok(Self {
            key: (row.get(COLUMNS), row.get(COLUMNS + 1), row.get(COLUMNS + 2)),
            start: seq_from_column(row.get(COLUMNS + 3)),
            items: vec![read_item(row)?],
        })
    }

    fn is_continued_by(&self, next: &Self) -> bool {
        let end = self.start + self.items.len() as u64;
        (&self.key, end) == (&next.key, next.start) && self.items.len() < RUN
    }

    async fn write(self, writer: &SegmentWriter<'_>) -> Result<()> {
        writer.write(&self.key, self.start, &self.items, None).await
    }
}

/// Places of ids. The copies keep their order.
const ITEM_IDS: &str = r"
    INSERT INTO item_ids (tenant, id, shard, thread, tomb, seq, flags, copy)
    SELECT tenant, CASE WHEN octet_length(id) > 128 THEN sha256(id) ELSE id END, shard, thread,
           CASE WHEN body IS NULL THEN seq + 1 ELSE 0 END, seq,
           (body IS NOT NULL)::integer + 2 * (coalesce(octet_length(body), 0) > 0)::integer
               + 4 * (origin IS NOT NULL)::integer,
           copy
    FROM (
        SELECT *, CASE position('\x5f'::bytea IN item_id) WHEN 0 THEN item_id ELSE
                substr(item_id, position('\x5f'::bytea IN item_id) + 1) || '\x5f'::bytea
                    || substr(item_id, 1, position('\x5f'::bytea IN item_id) - 1)
            END AS id
        FROM items
    ) AS numbered";

async fn move_pending_turns(client: &Client) -> Result<()> {
    let items = client.prepare(INPUT).await?;
    let insert = client.prepare(INSERT_PENDING_TURN).await?;
    client
        .batch_execute(
            "DECLARE rows NO SCROLL CURSOR FOR SELECT tenant, shard, id FROM openings
             ORDER BY ordinal",
        )
        .await?;
    loop {
        let rows = client.query(FETCH, &[]).await?;
        if rows.is_empty() {
            break;
        }
        for row in rows {
            let (tenant, shard, id): (&str, i64, &str) = (row.get(0), row.get(1), row.get(2));
            let input = client.query(&items, &[&tenant, &shard, &id]).await?;
            let input: Vec<HeldItem> = input.iter().map(read_item).collect::<Result<_>>()?;
            let encoded = encoding::encode(&input);
            client.execute(&insert, &[&tenant, &shard, &id, &encoded]).await?;
        }
    }
    Ok(client.batch_execute("CLOSE rows").await?)
}

const INPUT: &str = concat!(
    "SELECT ",
    item_columns!(),
    " FROM opening_items
    WHERE tenant = $1 AND shard = $2 AND opening = $3 ORDER BY position"
);

const INSERT_PENDING_TURN: &str = "
    INSERT INTO pending_turns (tenant, shard, id, ordinal, holder, into_conversation, thread,
                               after, fork, conversation, created_at, request, copy_until,
                               envelope, report, copy, items)
    SELECT tenant, shard, id, ordinal, holder, into_conversation, thread, after, fork,
           conversation, created_at, request, copy_until, envelope, report, copy, $4
    FROM openings WHERE tenant = $1 AND shard = $2 AND id = $3";

/// Reads an item from a row's first columns.
fn read_item(row: &Row) -> Result<HeldItem> {
    let columns = ItemColumns {
        item_id: row::text(row.try_get(0)?)?,
        own_id: optional_text(row.try_get(1)?)?,
        kind: row::text(row.try_get(2)?)?,
        call_id: optional_text(row.try_get(3)?)?,
        role: row.try_get(4)?,
        flags: row.try_get(5)?,
        fingerprint: row.try_get::<_, Option<&[u8]>>(6)?.map(row::sixteen).transpose()?,
        origin: optional_text(row.try_get(7)?)?,
        body: row.try_get::<_, Option<&[u8]>>(8)?.map(Bytes::copy_from_slice),
    };
    Ok(columns.into_item())
}

fn optional_text(bytes: Option<&[u8]>) -> Result<Option<&str>> {
    bytes.map(row::text).transpose()
}
