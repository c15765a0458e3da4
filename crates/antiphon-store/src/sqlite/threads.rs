//! Threads: their ends and their lineages.

use rusqlite::{Connection, OptionalExtension, params};

use super::keys::{ThreadKey, position, seq_from_column, thread_from_column};
use crate::error::StoreError;
use crate::ids::ThreadId;
use crate::records::{RequestDigest, Seq};

type Result<T> = std::result::Result<T, StoreError>;

/// The state of a thread.
pub(super) struct Thread {
    /// One past its last item.
    pub(super) tip: Seq,
    /// Whether a conversation names it, or did so in the past.
    pub(super) named: bool,
}

pub(super) fn find(db: &Connection, key: ThreadKey<'_>) -> Result<Option<Thread>> {
    const SQL: &str =
        "SELECT tip, named FROM threads WHERE tenant = ?1 AND shard = ?2 AND thread = ?3";
    let thread = db
        .prepare_cached(SQL)?
        .query_row(params![key.tenant(), key.shard(), key.thread()], |row| {
            Ok(Thread { tip: seq_from_column(row.get(0)?), named: row.get(1)? })
        })
        .optional()?;
    Ok(thread)
}

/// Creates an empty thread without a lineage.
pub(super) fn create_root(db: &Connection, key: ThreadKey<'_>, named: bool) -> Result<()> {
    const SQL: &str = "
        INSERT INTO threads (tenant, shard, thread, lineage, parent, base, tip, named)
        VALUES (?1, ?2, ?3, '[]', NULL, 0, 0, ?4)";
    db.prepare_cached(SQL)?.execute(params![key.tenant(), key.shard(), key.thread(), named])?;
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
        INSERT INTO threads (tenant, shard, thread, lineage, parent, base, tip, named)
        VALUES (?1, ?2, ?3, json_insert(
            coalesce((SELECT lineage FROM threads
                      WHERE tenant = ?1 AND shard = ?2 AND thread = ?4), '[]'),
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

/// Moves the thread's end to `tip` after an append.
pub(super) fn advance(db: &Connection, key: ThreadKey<'_>, tip: Seq) -> Result<()> {
    const SQL: &str =
        "UPDATE threads SET tip = ?4 WHERE tenant = ?1 AND shard = ?2 AND thread = ?3";
    db.prepare_cached(SQL)?.execute(params![
        key.tenant(),
        key.shard(),
        key.thread(),
        position(tip)
    ])?;
    Ok(())
}

/// Records the thread's last turn: the request that it answers and its start. `None` if something
/// other than a turn came last.
pub(super) fn note_turn(
    db: &Connection,
    key: ThreadKey<'_>,
    turn: Option<(&RequestDigest, Seq)>,
) -> Result<()> {
    const SQL: &str = "
        UPDATE threads SET last_request = ?4, last_from = ?5
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3";
    let (request, from) = turn.unzip();
    db.prepare_cached(SQL)?.execute(params![
        key.tenant(),
        key.shard(),
        key.thread(),
        request.map(|request| request.0),
        from.map(position),
    ])?;
    Ok(())
}

/// Deletes a thread. Returns its parent.
pub(super) fn remove(db: &Connection, key: ThreadKey<'_>) -> Result<Option<ThreadId>> {
    const SQL: &str =
        "DELETE FROM threads WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 RETURNING parent";
    let parent: Option<Option<i64>> = db
        .prepare_cached(SQL)?
        .query_row(params![key.tenant(), key.shard(), key.thread()], |row| row.get(0))
        .optional()?;
    Ok(parent.flatten().map(thread_from_column))
}
