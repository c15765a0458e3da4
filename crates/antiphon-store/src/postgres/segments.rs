//! Segments: consecutive items of a thread that were appended together.

use std::ops::Range;

use antiphon::HeldItem;
use bytes::Bytes;
use tokio_postgres::Row;

use super::failure::Failure;
use super::item_ids;
use super::session::Session;
use super::statements::statements;
use crate::encoding;
use crate::error::StoreError;
use crate::ids::ConversationId;
use crate::item_index::{flags, id_column};
use crate::keys::{ThreadKey, position, request_number, response_number, seq_from_column};
use crate::records::{NewResponse, Order, RequestDigest, ResponseRange, Seq};
use crate::usage::Usage;

type Result<T> = std::result::Result<T, Failure>;

/// The response of a turn, and the request that it answers.
#[derive(Clone, Copy)]
pub(super) struct TurnResponse<'a> {
    pub(super) response: &'a NewResponse,
    pub(super) request: Option<&'a RequestDigest>,
    pub(super) range: ResponseRange,
}

/// A stored segment.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// The position of its first item.
    pub(super) first: Seq,
    pub(super) number: i64,
    /// The number of its items, tombstones included.
    pub(super) held: u64,
    /// Its live items.
    pub(super) live: Usage,
    /// Whether a response begins with it.
    pub(super) has_response: bool,
    encoded: Bytes,
}

impl Segment {
    /// Reads the columns first, number, held, live, bytes, `has_response`, items.
    pub(super) fn read(row: &Row) -> Self {
        Self {
            first: seq_from_column(row.get(0)),
            number: row.get(1),
            held: seq_from_column(row.get(2)),
            live: Usage::from_columns(row.get(3), row.get(4)),
            has_response: row.get(5),
            encoded: Bytes::copy_from_slice(row.get(6)),
        }
    }

    /// One past the position of its last item.
    pub(super) fn end(&self) -> Seq {
        self.first.saturating_add(self.held)
    }

    /// Its items and their positions.
    pub(super) fn items(&self) -> Result<impl Iterator<Item = (Seq, HeldItem)> + use<>> {
        Ok((self.first..self.end()).zip(encoding::decode(self.encoded.clone())?))
    }
}

/// The segments of new items, by column.
#[derive(Default)]
struct Columns<'a> {
    firsts: Vec<i64>,
    held: Vec<i64>,
    live: Vec<i64>,
    bytes: Vec<i64>,
    encoded: Vec<Vec<u8>>,
    ids: Vec<Vec<u8>>,
    flags: Vec<i64>,
    items: Vec<&'a HeldItem>,
}

impl<'a> Columns<'a> {
    fn from_items(
        start: Seq,
        items: impl Iterator<Item = &'a HeldItem>,
        has_response: bool,
    ) -> Self {
        let (mut columns, mut items) = (Self::default(), items.peekable());
        let mut first = start;
        while items.peek().is_some() || (has_response && columns.firsts.is_empty()) {
            let (encoded, taken) = encoding::fill(&mut items);
            let live = Usage::from_items(taken.iter().copied());
            columns.firsts.push(position(first));
            columns.held.push(position(taken.len() as u64));
            columns.live.push(position(live.items));
            columns.bytes.push(position(live.bytes));
            columns.encoded.push(encoded);
            first = first.saturating_add(taken.len() as u64);
            columns.items.extend(taken);
        }
        columns.ids = columns.items.iter().map(|item| id_column(&item.id).into_bytes()).collect();
        columns.flags = columns.items.iter().map(|item| flags(item)).collect();
        columns
    }
}

/// Appends items from position `start` on, and the response that begins there. If the thread
/// already has an item's id, or the id is given twice, the server rejects the statement, and the
/// error names that item.
pub(super) async fn append<'a>(
    db: &Session,
    key: ThreadKey<'_>,
    start: Seq,
    items: impl Iterator<Item = &'a HeldItem>,
    turn: Option<TurnResponse<'_>>,
) -> Result<()> {
    let given = Columns::from_items(start, items, turn.is_some());
    if given.firsts.is_empty() {
        return Ok(());
    }
    let response = turn.map(|turn| turn.response);
    let (request, range) = (turn.and_then(|it| it.request), turn.map(|it| it.range));
    let copy = response.and_then(|response| response.copy.as_ref());
    let appended = db
        .execute(
            &APPEND,
            &[
                &key.tenant(),
                &key.shard(),
                &key.thread(),
                &position(start),
                &given.firsts,
                &given.held,
                &given.live,
                &given.bytes,
                &given.encoded,
                &given.ids,
                &given.flags,
                &response.map_or(0, |response| response_number(&response.id)),
                &request.map_or(0, request_number),
                &response.map(|response| response.id.as_str()),
                &response.and_then(|it| it.conversation.as_ref()).map(ConversationId::as_str),
                &response.map(|response| response.created_at),
                &range.map(|range| position(range.output_from)),
                &range.map(|range| position(range.end)),
                &request.map(|request| &request.0[..]),
                &copy.map(|copy| copy.expires_at),
                &response.map(|response| &*response.envelope),
                &response.map(|response| &*response.report),
                &copy.map(|copy| &*copy.sealed),
            ],
        )
        .await;
    let Err(failure) = appended else { return Ok(()) };
    match failure.duplicate().and_then(|at| given.items.get(at)) {
        Some(item) => Err(StoreError::DuplicateItem(item.id.clone()).into()),
        None => Err(failure),
    }
}

/// The number and the bytes of the segments that one call loads. It loads one at least.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    pub(super) segments: i64,
    pub(super) bytes: i64,
}

impl Batch {
    const ALL: Self = Self { segments: i64::MAX, bytes: i64::MAX };
}

/// The segments with items in these positions, oldest first.
pub(super) async fn within(
    db: &Session,
    key: ThreadKey<'_>,
    range: &Range<Seq>,
) -> Result<Vec<Segment>> {
    batch(db, key, range, Order::Ascending, Batch::ALL).await
}

/// The first segments with items in these positions.
pub(super) async fn batch(
    db: &Session,
    key: ThreadKey<'_>,
    range: &Range<Seq>,
    order: Order,
    batch: Batch,
) -> Result<Vec<Segment>> {
    let sql = match order {
        Order::Ascending => &WITHIN,
        Order::Descending => &WITHIN_BACKWARDS,
    };
    let given = (key.tenant(), key.shard(), key.thread());
    let (from, end) = (position(range.start), position(range.end));
    let Batch { segments, bytes } = batch;
    let rows =
        db.rows(sql, &[&given.0, &given.1, &given.2, &from, &end, &segments, &bytes]).await?;
    Ok(rows.iter().map(Segment::read).collect())
}

/// Replaces the items of a segment by `items`, of which the first has the same position as before.
pub(super) async fn rewrite(
    db: &Session,
    key: ThreadKey<'_>,
    segment: &Segment,
    items: &[HeldItem],
) -> Result<()> {
    let live = Usage::from_items(items);
    db.execute(
        &REWRITE,
        &[
            &key.tenant(),
            &key.shard(),
            &key.thread(),
            &position(segment.first),
            &segment.number,
            &position(items.len() as u64),
            &position(live.items),
            &position(live.bytes),
            &encoding::encode(items),
        ],
    )
    .await
    .map(drop)
}

/// Deletes a segment. The ids of its items stay.
pub(super) async fn delete(db: &Session, key: ThreadKey<'_>, segment: &Segment) -> Result<()> {
    let given = (key.tenant(), key.shard(), key.thread(), position(segment.first));
    db.execute(&DELETE, &[&given.0, &given.1, &given.2, &given.3, &segment.number]).await.map(drop)
}

/// Deletes the items of a thread from position `from` on, tombstones included. No response ends
/// after it.
pub(super) async fn cut(db: &Session, key: ThreadKey<'_>, from: Seq) -> Result<()> {
    for segment in within(db, key, &(from..Seq::MAX)).await? {
        let (left, cut): (Vec<_>, Vec<_>) = segment.items()?.partition(|(seq, _)| *seq < from);
        item_ids::remove(db, key, cut.iter().map(|(_, item)| item), from).await?;
        let left: Vec<HeldItem> = left.into_iter().map(|(_, item)| item).collect();
        match left.is_empty() && !segment.has_response {
            true => delete(db, key, &segment).await?,
            false => rewrite(db, key, &segment, &left).await?,
        }
    }
    Ok(())
}

/// Moves the segments of a thread from position `from` on, which begins one, with their responses.
pub(super) async fn move_from(
    db: &Session,
    key: ThreadKey<'_>,
    from: Seq,
    to: ThreadKey<'_>,
) -> Result<()> {
    for segment in within(db, key, &(from..Seq::MAX)).await? {
        let items: Vec<HeldItem> = segment.items()?.map(|(_, item)| item).collect();
        item_ids::move_to(db, key, items.iter(), from, to).await?;
    }
    let given = (key.tenant(), key.shard(), key.thread(), position(from), to.thread());
    db.execute(&MOVE, &[&given.0, &given.1, &given.2, &given.3, &given.4]).await.map(drop)
}

/// The columns of a segment that is inserted, and of its response.
macro_rules! inserted_columns {
    () => {
        "tenant, shard, thread, first, number, held, live, bytes, items, response, request, id,
         conversation, created_at, output_from, end_at, digest, copy_until, envelope, report, copy"
    };
}

macro_rules! select_within {
    ($order:literal) => {
        concat!(
            "SELECT first, number, held, live, bytes, has_response, items FROM (
                SELECT first, number, held, live, bytes, id IS NOT NULL AS has_response, items,
                       sum(octet_length(items)) OVER (ORDER BY first ",
            $order,
            ") - octet_length(items) AS loaded
                FROM segments
                WHERE tenant = $1 AND shard = $2 AND thread = $3 AND held > 0
                  AND first >= coalesce((
                      SELECT first FROM segments
                      WHERE tenant = $1 AND shard = $2 AND thread = $3 AND first <= $4
                        AND held > 0
                      ORDER BY first DESC LIMIT 1
                  ), 0)
                  AND first < $5 AND first + held > $4
                ORDER BY first ",
            $order,
            " LIMIT $6
            ) AS found WHERE loaded < $7 ORDER BY first ",
            $order
        )
    };
}

statements! {
    /// Fails if the thread has one of the items already: the cast of that item's number to a number
    /// is invalid ([`Failure::duplicate`]). The response belongs to the first segment.
    ///
    /// With `OFFSET 0` PostgreSQL looks up each item by its id. A join would read all ids of the
    /// tenant.
    APPEND = concat!(
        "WITH appended AS (
            INSERT INTO segments (", inserted_columns!(), ")
            SELECT $1::text, $2::bigint, $3::bigint, first, nextval('copies'), held, live, bytes,
                   items, $12::bigint, $13::bigint, $14::text, $15::text, $16::bigint,
                   $17::bigint, $18::bigint, $19::bytea, $20::bigint, $21::bytea, $22::bytea,
                   $23::bytea
            FROM unnest($5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bytea[])
                 AS given (first, held, live, bytes, items)
            LIMIT 1
        ), followed AS (
            INSERT INTO segments (tenant, shard, thread, first, response, request, number, held,
                                  live, bytes, items)
            SELECT $1, $2, $3, first, 0, 0, nextval('copies'), held, live, bytes, items
            FROM unnest($5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bytea[])
                 AS given (first, held, live, bytes, items)
            OFFSET 1
        ), usage AS (
            SELECT pg_backend_pid() % 8 AS slot, sum(live) AS items, sum(bytes) AS bytes
            FROM unnest($7::bigint[], $8::bigint[]) AS given (live, bytes)
        ), counted AS (
            UPDATE tenant_usage AS held
            SET items = held.items + usage.items, bytes = held.bytes + usage.bytes
            FROM usage WHERE usage.items > 0 AND tenant = $1 AND held.slot = usage.slot
            RETURNING held.slot
        ), first_counted AS (
            INSERT INTO tenant_usage AS held (tenant, slot, items, bytes)
            SELECT $1, slot, items, bytes FROM usage
            WHERE items > 0 AND NOT EXISTS (SELECT FROM counted)
            ON CONFLICT (tenant, slot) DO UPDATE
            SET items = held.items + excluded.items, bytes = held.bytes + excluded.bytes
        ), given AS (
            SELECT at, id, tomb, flags, row_number() OVER (PARTITION BY id, tomb ORDER BY at) AS nth
            FROM (
                SELECT at, CASE WHEN octet_length(id) > 128 THEN sha256(id) ELSE id END AS id,
                       CASE flags & 1 WHEN 1 THEN 0 ELSE $4::bigint + at END AS tomb, flags
                FROM unnest($10::bytea[], $11::bigint[]) WITH ORDINALITY AS given (id, flags, at)
            ) AS keyed
        ), indexed AS (
            INSERT INTO item_ids (tenant, id, shard, thread, tomb, seq, flags, copy)
            SELECT $1, id, $2, $3, tomb, $4::bigint + at - 1, flags, nextval('copies')
            FROM given
            WHERE nth = 1 AND NOT EXISTS (
                SELECT FROM item_ids AS held
                WHERE tenant = $1 AND held.id = given.id AND shard = $2 AND thread = $3
                  AND held.tomb = given.tomb
                OFFSET 0
            )
            ORDER BY at
            RETURNING seq
        )
        SELECT ('duplicate item ' || at)::integer FROM given
        WHERE $4::bigint + at - 1 NOT IN (SELECT seq FROM indexed)
        ORDER BY at"
    );
    WITHIN = select_within!("ASC");
    WITHIN_BACKWARDS = select_within!("DESC");
    REWRITE = "
        UPDATE segments SET held = $6, live = $7, bytes = $8, items = $9
        WHERE tenant = $1 AND shard = $2 AND thread = $3 AND first = $4 AND number = $5";
    DELETE = "
        DELETE FROM segments
        WHERE tenant = $1 AND shard = $2 AND thread = $3 AND first = $4 AND number = $5";
    MOVE = "
        UPDATE segments SET thread = $5
        WHERE tenant = $1 AND shard = $2 AND thread = $3 AND first >= $4";
}
