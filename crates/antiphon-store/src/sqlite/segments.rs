//! Segments: consecutive items of a thread that were appended together.

use std::collections::HashSet;

use antiphon::HeldItem;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::item_ids::{self, Place};
use super::keys::{ThreadKey, position, request_number, response_number, seq_from_column};
use super::summaries;
use crate::encoding;
use crate::error::StoreError;
use crate::ids::ConversationId;
use crate::records::{NewResponse, RequestDigest, ResponseRange, Seq};
use crate::usage::Usage;

type Result<T> = std::result::Result<T, StoreError>;

/// The response of a turn, and the request that it answers.
#[derive(Clone, Copy)]
pub(super) struct TurnResponse<'a> {
    pub(super) response: &'a NewResponse,
    pub(super) request: Option<&'a RequestDigest>,
    pub(super) range: ResponseRange,
}

/// The entry of a segment in its thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The number of the segment.
    pub(super) segment: i64,
    /// The position of its first item.
    pub(super) first: Seq,
    /// The number of its items, tombstones included.
    pub(super) held: u64,
    /// Its live items.
    pub(super) live: Usage,
}

/// The columns of an [`Entry`].
macro_rules! entry_columns {
    () => {
        "threads.segment, threads.first, threads.held, threads.live, threads.bytes"
    };
}
pub(super) use entry_columns;

impl Entry {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            segment: row.get(0)?,
            first: seq_from_column(row.get(1)?),
            held: seq_from_column(row.get(2)?),
            live: Usage::from_columns(row.get(3)?, row.get(4)?),
        })
    }

    /// One past the position of its last item.
    pub(super) fn end(&self) -> Seq {
        self.first.saturating_add(self.held)
    }

    /// Its items and their positions.
    pub(super) fn items(
        &self,
        db: &Connection,
    ) -> Result<impl Iterator<Item = (Seq, HeldItem)> + use<>> {
        let items = load(db, self.segment)?;
        Ok((self.first..self.end()).zip(items))
    }
}

/// Appends items from position `first` on, and the response that begins there. Returns the position
/// after the last item.
pub(super) fn append<'a>(
    db: &Connection,
    key: ThreadKey<'_>,
    first: Seq,
    items: impl IntoIterator<Item = &'a HeldItem>,
    turn: Option<TurnResponse<'_>>,
) -> Result<Seq> {
    append_checked(db, key, first, items, turn, |item| {
        Ok(item_ids::find(db, key, &item.id)?.is_some())
    })
}

/// Appends the first items of a thread that was just created. Otherwise as [`append`], but without
/// a look into the index of item ids, which has none of the thread.
pub(super) fn append_to_new<'a>(
    db: &Connection,
    key: ThreadKey<'_>,
    items: impl IntoIterator<Item = &'a HeldItem>,
    turn: Option<TurnResponse<'_>>,
) -> Result<Seq> {
    let mut ids = HashSet::new();
    append_checked(db, key, 0, items, turn, |item| Ok(!ids.insert(&item.id)))
}

/// Appends items. Fails if `is_taken` says that the thread has a live item with the id of one.
///
/// The check of an id and its insertion are two statements: a statement that reads the table that
/// it writes to would keep its rows in a temporary table.
fn append_checked<'a>(
    db: &Connection,
    key: ThreadKey<'_>,
    first: Seq,
    items: impl IntoIterator<Item = &'a HeldItem>,
    turn: Option<TurnResponse<'_>>,
    mut is_taken: impl FnMut(&'a HeldItem) -> Result<bool>,
) -> Result<Seq> {
    let appended = append_with(db, key, first, items, turn, |item, place| {
        if item_ids::is_live(item) && is_taken(item)? {
            return Err(StoreError::DuplicateItem(item.id.clone()));
        }
        item_ids::insert(db, key, item, place)
    })?;
    if appended.completes_step {
        summaries::update(db)?;
    }
    Ok(appended.end)
}

/// The result of [`append_with`].
pub(super) struct Appended {
    /// The position after the last item.
    end: Seq,
    /// Whether the summaries must be updated.
    completes_step: bool,
}

/// Appends items as [`append`] does. `index` records the place of each.
pub(super) fn append_with<'a>(
    db: &Connection,
    key: ThreadKey<'_>,
    first: Seq,
    items: impl IntoIterator<Item = &'a HeldItem>,
    mut turn: Option<TurnResponse<'_>>,
    mut index: impl FnMut(&'a HeldItem, Place) -> Result<()>,
) -> Result<Appended> {
    let mut items = items.into_iter().peekable();
    let mut end = first;
    let mut completes_step = false;
    while turn.is_some() || items.peek().is_some() {
        let (encoded, taken) = encoding::fill(&mut items);
        let live = Usage::from_items(taken.iter().copied());
        let segment = insert(db, key, end, (&encoded, live), turn)?;
        let entry = Entry { segment, first: end, held: taken.len() as u64, live };
        enter(db, key, &entry, turn.take())?;
        end = end.saturating_add(taken.len() as u64);
        for (seq, item) in (entry.first..).zip(taken) {
            index(item, Place { seq, segment })?;
        }
        completes_step |= summaries::completes_step(segment);
    }
    Ok(Appended { end, completes_step })
}

fn insert(
    db: &Connection,
    key: ThreadKey<'_>,
    first: Seq,
    (encoded, live): (&[u8], Usage),
    turn: Option<TurnResponse<'_>>,
) -> Result<i64> {
    const SQL: &str = "
        INSERT INTO segments (number, owner, first, items, id, conversation, created_at,
                              output_from, end_at, request, copy_until, envelope, report, copy,
                              live, bytes)
        VALUES (1 + max((SELECT segment FROM summarized),
                        coalesce((SELECT max(number) FROM segments), 0)),
                ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    let response = turn.map(|turn| turn.response);
    let copy = response.and_then(|response| response.copy.as_ref());
    db.prepare_cached(SQL)?.execute(params![
        key.tenant(),
        position(first),
        encoded,
        response.map(|response| response.id.as_str()),
        response.and_then(|it| it.conversation.as_ref()).map(ConversationId::as_str),
        response.map(|response| response.created_at),
        turn.map(|turn| position(turn.range.output_from)),
        turn.map(|turn| position(turn.range.end)),
        turn.and_then(|turn| turn.request).map(|request| request.0),
        copy.map(|copy| copy.expires_at),
        response.map(|response| &*response.envelope),
        response.map(|response| &*response.report),
        copy.map(|copy| &*copy.sealed),
        position(live.items),
        position(live.bytes),
    ])?;
    Ok(db.last_insert_rowid())
}

/// Enters a segment into its thread.
fn enter(
    db: &Connection,
    key: ThreadKey<'_>,
    entry: &Entry,
    turn: Option<TurnResponse<'_>>,
) -> Result<()> {
    const SQL: &str = "
        INSERT INTO threads (tenant, shard, thread, first, segment, held, live, bytes,
                             response, request, end_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    db.prepare_cached(SQL)?.execute(params![
        key.tenant(),
        key.shard(),
        key.thread(),
        position(entry.first),
        entry.segment,
        position(entry.held),
        position(entry.live.items),
        position(entry.live.bytes),
        turn.map(|turn| response_number(&turn.response.id)),
        turn.and_then(|turn| turn.request).map(request_number),
        turn.map(|turn| position(turn.range.end)),
    ])?;
    Ok(())
}

/// The items of a segment.
pub(super) fn load(db: &Connection, segment: i64) -> Result<Vec<HeldItem>> {
    const SQL: &str = "SELECT items FROM segments WHERE number = ?1";
    let encoded: Option<Vec<u8>> =
        db.prepare_cached(SQL)?.query_row([segment], |row| row.get(0)).optional()?;
    encoding::decode(encoded.unwrap_or_default().into())
}

/// The entries of the segments with items in these positions, in order.
pub(super) fn within(
    db: &Connection,
    key: ThreadKey<'_>,
    (from, end): (Seq, Seq),
) -> Result<Vec<Entry>> {
    let given = (key.tenant(), key.shard(), key.thread(), position(from), position(end));
    select(db, ASCENDING, given)
}

pub(super) fn select(db: &Connection, sql: &str, given: impl Params) -> Result<Vec<Entry>> {
    let entries =
        db.prepare_cached(sql)?.query_map(given, Entry::read)?.collect::<rusqlite::Result<_>>()?;
    Ok(entries)
}

macro_rules! select_within {
    ($order:literal) => {
        concat!(
            "SELECT ",
            entry_columns!(),
            " FROM threads
            WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND held > 0
              AND first >= coalesce((
                  SELECT first FROM threads
                  WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND first BETWEEN 0 AND ?4
                    AND held > 0
                  ORDER BY first DESC LIMIT 1
              ), 0)
              AND first < ?5 AND first + held > ?4
            ORDER BY first ",
            $order
        )
    };
}

/// The entries of a range, oldest first.
pub(super) const ASCENDING: &str = select_within!("ASC");
/// The entries of a range, newest first.
pub(super) const DESCENDING: &str = select_within!("DESC");

/// Replaces the items of a segment by `items`, of which the first has the same position as before.
pub(super) fn rewrite(
    db: &Connection,
    key: ThreadKey<'_>,
    entry: &Entry,
    items: &[HeldItem],
) -> Result<()> {
    const CONTENT: &str = "UPDATE segments SET items = ?2, live = ?3, bytes = ?4 WHERE number = ?1";
    const ENTRY: &str = "
        UPDATE threads SET held = ?6, live = ?7, bytes = ?8
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND first = ?4 AND segment = ?5";
    let live = Usage::from_items(items);
    db.prepare_cached(CONTENT)?.execute(params![
        entry.segment,
        encoding::encode(items),
        position(live.items),
        position(live.bytes),
    ])?;
    db.prepare_cached(ENTRY)?.execute(params![
        key.tenant(),
        key.shard(),
        key.thread(),
        position(entry.first),
        entry.segment,
        position(items.len() as u64),
        position(live.items),
        position(live.bytes),
    ])?;
    Ok(())
}

/// Deletes a segment and its entry. The ids of its items stay.
pub(super) fn delete(db: &Connection, key: ThreadKey<'_>, entry: &Entry) -> Result<()> {
    const ENTRY: &str = "
        DELETE FROM threads
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND first = ?4 AND segment = ?5";
    let (first, segment) = (position(entry.first), entry.segment);
    db.prepare_cached(ENTRY)?.execute(params![
        key.tenant(),
        key.shard(),
        key.thread(),
        first,
        segment
    ])?;
    db.prepare_cached("DELETE FROM segments WHERE number = ?1")?.execute([segment])?;
    Ok(())
}

/// Deletes the items of a thread from position `from` on, tombstones included. No response ends
/// after it.
pub(super) fn cut(db: &Connection, key: ThreadKey<'_>, from: Seq) -> Result<()> {
    for entry in within(db, key, (from, Seq::MAX))? {
        let mut left = Vec::new();
        for (seq, item) in entry.items(db)? {
            match seq < from {
                true => left.push(item),
                false => item_ids::remove(db, key, &item.id, seq)?,
            }
        }
        match left.is_empty() && !has_response(db, entry.segment)? {
            true => delete(db, key, &entry)?,
            false => rewrite(db, key, &entry, &left)?,
        }
    }
    Ok(())
}

fn has_response(db: &Connection, segment: i64) -> Result<bool> {
    const SQL: &str = "SELECT 1 FROM segments WHERE number = ?1 AND id IS NOT NULL";
    Ok(db.prepare_cached(SQL)?.exists([segment])?)
}
