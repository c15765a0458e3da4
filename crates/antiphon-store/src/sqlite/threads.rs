//! Threads: their ends and their lineages.
//!
//! The record of a thread is the row of `threads` with the greatest `first`. A turn changes it and
//! inserts the entry of its segment just before it, so it usually writes one page of the table.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::keys::{ThreadKey, position, seq_from_column, thread_from_column};
use crate::error::StoreError;
use crate::ids::ThreadId;
use crate::records::{RequestDigest, Seq};
use crate::restore::ThreadRecord;

type Result<T> = std::result::Result<T, StoreError>;

/// The state of a thread.
pub(super) struct Thread {
    /// One past its last item.
    pub(super) tip: Seq,
    /// Whether a conversation names it, or did so in the past.
    pub(super) named: bool,
}

pub(super) fn find(db: &Connection, key: ThreadKey<'_>) -> Result<Option<Thread>> {
    const SQL: &str = "SELECT tip, named FROM threads
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND first = 0x7fffffffffffffff";
    let thread = db
        .prepare_cached(SQL)?
        .query_row(params![key.tenant(), key.shard(), key.thread()], |row| {
            Ok(Thread { tip: seq_from_column(row.get(0)?), named: row.get(1)? })
        })
        .optional()?;
    Ok(thread)
}

/// The record of a thread.
pub(super) fn record(db: &Connection, key: ThreadKey<'_>) -> Result<Option<ThreadRecord>> {
    const SQL: &str = "SELECT lineage, tip, named FROM threads
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND first = 0x7fffffffffffffff";
    let parameters = params![key.tenant(), key.shard(), key.thread()];
    let row = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?));
    let found = db.prepare_cached(SQL)?.query_row(parameters, row).optional()?;
    found.map(|(lineage, tip, named)| parse_record(key, &lineage, tip, named)).transpose()
}

fn parse_record(key: ThreadKey<'_>, lineage: &str, tip: i64, named: bool) -> Result<ThreadRecord> {
    let lineage: Vec<(i64, i64)> = serde_json::from_str(lineage)
        .map_err(|error| StoreError::Unavailable(format!("a lineage is invalid: {error}")))?;
    let forks = |(id, upto): (i64, i64)| (thread_from_column(id), seq_from_column(upto));
    Ok(ThreadRecord {
        shard: key.in_shard,
        thread: key.id,
        lineage: lineage.into_iter().map(forks).collect(),
        tip: seq_from_column(tip),
        is_named: named,
    })
}

/// Creates a thread without a lineage. Its items end at `tip`.
pub(super) fn create_root(
    db: &Connection,
    key: ThreadKey<'_>,
    named: bool,
    tip: Seq,
) -> Result<()> {
    const SQL: &str = "
        INSERT INTO threads (tenant, shard, thread, first, segment, held, live, bytes,
                             lineage, parent, base, tip, named)
        VALUES (?1, ?2, ?3, 0x7fffffffffffffff, 0, 0, 0, 0, '[]', NULL, 0, ?5, ?4)";
    let given = params![key.tenant(), key.shard(), key.thread(), named, position(tip)];
    db.prepare_cached(SQL)?.execute(given)?;
    Ok(())
}

/// Creates an empty thread that continues `parent` from `base`. If `parent` was deleted meanwhile,
/// the fork lacks the lineage of `parent` too.
pub(super) fn create_fork(
    db: &Connection,
    parent: ThreadKey<'_>,
    base: Seq,
    fork: ThreadId,
) -> Result<()> {
    const SQL: &str = "
        INSERT INTO threads (tenant, shard, thread, first, segment, held, live, bytes,
                             lineage, parent, base, tip, named)
        VALUES (?1, ?2, ?3, 0x7fffffffffffffff, 0, 0, 0, 0, json_insert(
            coalesce((SELECT lineage FROM threads
                      WHERE tenant = ?1 AND shard = ?2 AND thread = ?4
                        AND first = 0x7fffffffffffffff), '[]'),
            '$[#]', json_array(?4, ?5)
        ), ?4, ?5, ?5, 0)";
    let fork = ThreadKey { id: fork, ..parent };
    db.prepare_cached(SQL)?.execute(params![
        fork.tenant(),
        fork.shard(),
        fork.thread(),
        parent.thread(),
        position(base),
    ])?;
    Ok(())
}

/// Moves the thread's end to `tip`, and records its last turn: the request that it answers and its
/// start. `None` if something other than a turn came last.
pub(super) fn advance(
    db: &Connection,
    key: ThreadKey<'_>,
    tip: Seq,
    turn: Option<(&RequestDigest, Seq)>,
) -> Result<()> {
    const SQL: &str = "
        UPDATE threads SET tip = ?4, last_request = ?5, last_from = ?6
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND first = 0x7fffffffffffffff";
    let (request, from) = turn.unzip();
    db.prepare_cached(SQL)?.execute(params![
        key.tenant(),
        key.shard(),
        key.thread(),
        position(tip),
        request.map(|request| request.0),
        from.map(position),
    ])?;
    Ok(())
}

/// Deletes a thread. Returns its parent.
pub(super) fn remove(db: &Connection, key: ThreadKey<'_>) -> Result<Option<ThreadId>> {
    const SQL: &str = "
        DELETE FROM threads
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND first = 0x7fffffffffffffff
        RETURNING parent";
    let parent: Option<Option<i64>> = db
        .prepare_cached(SQL)?
        .query_row(params![key.tenant(), key.shard(), key.thread()], |row| row.get(0))
        .optional()?;
    Ok(parent.flatten().map(thread_from_column))
}
