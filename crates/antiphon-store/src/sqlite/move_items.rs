//! Moves the rows of items, responses and pending turns into segments: a step of the schema.
//!
//! Reads one turn at a time, so a file of any size needs little memory.

use antiphon::HeldItem;
use rusqlite::{Connection, Row, Transaction, params};
use rusqlite_migration::{HookError, HookResult};

use super::keys::{ThreadKey, position, seq_from_column, thread_from_column};
use super::pending_turns;
use super::responses::read_new;
use super::row::{self, item_columns};
use super::segments::{self, TurnResponse};
use crate::encoding;
use crate::error::StoreError;
use crate::ids::{Shard, Tenant, ThreadId};
use crate::records::{NewResponse, RequestDigest, ResponseRange, Seq};

type Result<T> = std::result::Result<T, StoreError>;

/// The number of items of a run that are in memory at once.
const RUN: usize = 64;

/// Fills the tables of `segments.sql` from those of earlier releases.
pub(super) fn move_items(db: &Transaction<'_>) -> HookResult {
    let moved = move_all(db);
    moved.map_err(|error| HookError::Hook(error.to_string()))
}

fn move_all(db: &Connection) -> Result<()> {
    db.execute_batch(THREADS)?;
    number_after_copies(db)?;
    move_responses(db)?;
    move_loose_items(db)?;
    db.execute_batch(ITEM_IDS)?;
    move_pending_turns(db)
}

const THREADS: &str = "
    INSERT INTO threads (tenant, shard, thread, first, segment, held, live, bytes,
                         lineage, parent, base, tip, named, last_request, last_from)
    SELECT tenant, shard, thread, -1, 0, 0, 0, 0,
           lineage, parent, base, tip, named, last_request, last_from
    FROM former_threads";

/// Copies that are made later get the numbers of their segments, which must be greater than the
/// numbers of the present copies.
fn number_after_copies(db: &Connection) -> Result<()> {
    const SQL: &str = "
        UPDATE summarized SET segment = (SELECT coalesce(max(copy), 0) FROM items)";
    Ok(db.execute_batch(SQL)?)
}

/// Moves the responses with their items, oldest first.
fn move_responses(db: &Connection) -> Result<()> {
    const SQL: &str = "
        SELECT id, conversation, created_at, envelope, report, copy, copy_until,
               thread, input_from, output_from, end_at, request, tenant
        FROM responses ORDER BY rowid";
    let mut statement = db.prepare(SQL)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let former = FormerResponse::read(row)?;
        let key = ThreadKey::new(&former.owner, former.response.id.shard(), former.thread);
        let items = read_items(db, key, former.range)?;
        let (response, request) = (&former.response, former.request.as_ref());
        let turn = TurnResponse { response, request, range: former.range };
        let start = former.range.input_from;
        segments::append_with(db, key, start, &items, Some(turn), |_, _| Ok(()))?;
    }
    Ok(())
}

struct FormerResponse {
    owner: Tenant,
    thread: ThreadId,
    response: NewResponse,
    request: Option<RequestDigest>,
    range: ResponseRange,
}

impl FormerResponse {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            owner: Tenant::new(row.get_ref(12)?.as_str()?),
            thread: thread_from_column(row.get(7)?),
            response: read_new(row)?,
            request: row.get::<_, Option<[u8; 16]>>(11)?.map(RequestDigest),
            range: ResponseRange {
                input_from: seq_from_column(row.get(8)?),
                output_from: seq_from_column(row.get(9)?),
                end: seq_from_column(row.get(10)?),
            },
        })
    }
}

fn read_items(db: &Connection, key: ThreadKey<'_>, range: ResponseRange) -> Result<Vec<HeldItem>> {
    const SQL: &str = concat!(
        "SELECT ",
        item_columns!(),
        " FROM items
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND seq >= ?4 AND seq < ?5
        ORDER BY seq"
    );
    let (from, end) = (position(range.input_from), position(range.end));
    let given = params![key.tenant(), key.shard(), key.thread(), from, end];
    let items =
        db.prepare_cached(SQL)?.query_map(given, row::read)?.collect::<rusqlite::Result<_>>()?;
    Ok(items)
}

/// Moves the items that no response contains. Of the responses of a thread that end after an item,
/// only the first can contain it.
fn move_loose_items(db: &Connection) -> Result<()> {
    const SQL: &str = concat!(
        "SELECT ",
        item_columns!(),
        ", seq, tenant, shard, thread FROM items
        WHERE coalesce(seq < (
            SELECT input_from FROM responses
            WHERE responses.tenant = items.tenant AND responses.shard = items.shard
              AND responses.thread = items.thread AND end_at > seq
            ORDER BY end_at, input_from LIMIT 1
        ), true)
        ORDER BY tenant, shard, thread, seq"
    );
    let mut statement = db.prepare(SQL)?;
    let mut rows = statement.query([])?;
    let mut run: Option<Run> = None;
    while let Some(row) = rows.next()? {
        let item = row::read(row)?;
        let next = Run::read(row)?;
        match &mut run {
            Some(run) if run.is_continued_by(&next) => run.items.push(item),
            ended => {
                if let Some(run) = ended.replace(Run { items: vec![item], ..next }) {
                    run.write(db)?;
                }
            }
        }
    }
    run.map_or(Ok(()), |run| run.write(db))
}

/// Consecutive items of a thread.
struct Run {
    owner: Tenant,
    shard: Shard,
    thread: ThreadId,
    start: Seq,
    items: Vec<HeldItem>,
}

impl Run {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            start: seq_from_column(row.get(row::COLUMNS)?),
            owner: Tenant::new(row.get_ref(row::COLUMNS + 1)?.as_str()?),
            shard: Shard(row.get::<_, i64>(row::COLUMNS + 2)?.cast_unsigned()),
            thread: thread_from_column(row.get(row::COLUMNS + 3)?),
            items: Vec::new(),
        })
    }

    fn is_continued_by(&self, next: &Self) -> bool {
        let end = self.start + self.items.len() as u64;
        (&self.owner, self.shard, self.thread, end)
            == (&next.owner, next.shard, next.thread, next.start)
            && self.items.len() < RUN
    }

    fn write(self, db: &Connection) -> Result<()> {
        let key = ThreadKey::new(&self.owner, self.shard, self.thread);
        segments::append_with(db, key, self.start, &self.items, None, |_, _| Ok(())).map(drop)
    }
}

const ITEM_IDS: &str = "
    INSERT INTO item_ids (tenant, id, shard, thread, seq, segment, copy, flags)
    SELECT tenant,
           CASE instr(item_id, '_') WHEN 0 THEN item_id ELSE
               substr(item_id, instr(item_id, '_') + 1) || '_'
                   || substr(item_id, 1, instr(item_id, '_') - 1)
           END AS id,
           shard, thread, seq,
           (SELECT segment FROM threads
            WHERE threads.tenant = items.tenant AND threads.shard = items.shard
              AND threads.thread = items.thread AND first <= seq AND held > 0
            ORDER BY first DESC LIMIT 1),
           copy,
           (body IS NOT NULL) + 2 * (coalesce(length(body), 0) > 0) + 4 * (origin IS NOT NULL)
    FROM items ORDER BY tenant, id";

fn move_pending_turns(db: &Connection) -> Result<()> {
    const SQL: &str = "
        INSERT INTO pending_turns (place, ordinal, tenant, shard, id, into_conversation, thread,
                                   after, fork, conversation, created_at, envelope, report,
                                   request, copy, copy_until, items)
        SELECT ?2, ordinal, tenant, shard, id, into_conversation, thread, after, fork,
               conversation, created_at, envelope, report, request, copy, copy_until, ?3
        FROM former_openings WHERE ordinal = ?1";
    let mut statement = db.prepare("SELECT ordinal, shard FROM former_openings")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (ordinal, shard): (i64, i64) = (row.get(0)?, row.get(1)?);
        let place = pending_turns::free_place(db, Shard(shard.cast_unsigned()))?;
        let items = encoding::encode(&read_input(db, ordinal)?);
        db.prepare_cached(SQL)?.execute(params![ordinal, place, items])?;
    }
    Ok(())
}

fn read_input(db: &Connection, ordinal: i64) -> Result<Vec<HeldItem>> {
    const SQL: &str = concat!(
        "SELECT ",
        item_columns!(),
        " FROM opening_items WHERE opening = ?1 ORDER BY position"
    );
    let items = db
        .prepare_cached(SQL)?
        .query_map([ordinal], row::read)?
        .collect::<rusqlite::Result<_>>()?;
    Ok(items)
}
