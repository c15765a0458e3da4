//! Finds and retracts turns by the request that they answer.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::keys::{ThreadKey, position, seq_from_column};
use super::{conversations, item_ids, pending_turns, responses, segments, sweep, threads};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
use crate::records::{PriorTurn, RequestDigest, Seq};

type Result<T> = std::result::Result<T, StoreError>;

/// The turns of a request: open turns first, then ended ones, both newest first.
pub(super) fn turns(
    db: &Connection,
    tenant: &Tenant,
    in_shard: Shard,
    request: &RequestDigest,
    limit: usize,
) -> Result<Vec<PriorTurn>> {
    let open = pending_turns::find_by_request(db, tenant, in_shard, request, limit)?;
    let ended = responses::find_by_request(db, tenant, in_shard, request, limit)?;
    let open = open.into_iter().map(PriorTurn::Open);
    Ok(open.chain(ended.into_iter().map(PriorTurn::Ended)).take(limit).collect())
}

/// The requests of responses since this time (Unix seconds) that begin a thread, and the shards of
/// the threads: the oldest first.
pub(super) fn placed_since(
    db: &Connection,
    created_from: i64,
) -> Result<Vec<(Tenant, RequestDigest, Shard)>> {
    const SQL: &str = "
        SELECT owner, request, id, created_at FROM (
            SELECT segment FROM creations WHERE created_at >= ?1
            UNION ALL
            SELECT number FROM segments WHERE number > (SELECT segment FROM summarized)
        ) AS found CROSS JOIN segments ON number = found.segment
        WHERE first = 0 AND request IS NOT NULL AND created_at >= ?1
        UNION ALL
        SELECT tenant, request, id, created_at FROM pending_turns
        WHERE thread IS NOT NULL AND after IS NULL AND request IS NOT NULL AND created_at >= ?1
        ORDER BY created_at";
    let read = |row: &Row<'_>| {
        let (tenant, request) =
            (Tenant::new(row.get_ref(0)?.as_str()?), RequestDigest(row.get(1)?));
        let id = ResponseId::parse(row.get_ref(2)?.as_str()?);
        Ok((tenant, request, id.ok_or_else(|| responses::invalid_id(2))?.shard()))
    };
    let mut statement = db.prepare_cached(SQL)?;
    let placed = statement.query_map([created_from], read)?.collect::<rusqlite::Result<_>>()?;
    Ok(placed)
}

/// Moves the last turn of a conversation to a thread of its own, if it answers this request and no
/// other turn continues from it. Its positions are not reused.
pub(super) fn retract(
    db: &Connection,
    tenant: &Tenant,
    conversation: &ConversationId,
    request: &RequestDigest,
    fork: ThreadId,
) -> Result<bool> {
    let end = conversations::end(db, tenant, conversation)?;
    let end = end.ok_or(StoreError::ConversationNotFound)?;
    let key = ThreadKey::from_cursor(tenant, end);
    let Some(from) = last_turn(db, key, request)? else { return Ok(false) };
    if is_built_on(db, key, from)? {
        return Ok(false);
    }
    threads::create_fork(db, key, from, fork)?;
    let fork = ThreadKey { id: fork, ..key };
    threads::advance(db, fork, end.end, None)?;
    move_from(db, key, from, fork)?;
    threads::advance(db, key, end.end, None)?;
    sweep::sweep(db, fork)?;
    Ok(true)
}

/// The start of the thread's last turn, if that turn answers this request.
fn last_turn(db: &Connection, key: ThreadKey<'_>, request: &RequestDigest) -> Result<Option<Seq>> {
    const SQL: &str = "
        SELECT last_from FROM threads
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND first = 0x7fffffffffffffff
          AND last_request = ?4";
    let from: Option<i64> = db
        .prepare_cached(SQL)?
        .query_row(params![key.tenant(), key.shard(), key.thread(), request.0], |row| row.get(0))
        .optional()?;
    Ok(from.map(seq_from_column))
}

/// Whether a fork or a pending turn continues from a point after `from`.
fn is_built_on(db: &Connection, key: ThreadKey<'_>, from: Seq) -> Result<bool> {
    const SQL: &str = "
        SELECT EXISTS (SELECT 1 FROM threads
                       WHERE tenant = ?1 AND shard = ?2 AND parent = ?3 AND base > ?4)
            OR EXISTS (SELECT 1 FROM pending_turns
                       WHERE place BETWEEN ?5 AND ?6 AND tenant = ?1 AND shard = ?2
                         AND thread = ?3 AND after > ?4)";
    let (first, last) = pending_turns::places(key.in_shard);
    let given = params![key.tenant(), key.shard(), key.thread(), position(from), first, last];
    Ok(db.prepare_cached(SQL)?.query_row(given, |row| row.get(0))?)
}

/// Moves the segments from position `from` on, which begins one, with their responses.
fn move_from(db: &Connection, key: ThreadKey<'_>, from: Seq, to: ThreadKey<'_>) -> Result<()> {
    const SQL: &str = "
        UPDATE threads SET thread = ?5
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND first >= ?4 AND tip IS NULL";
    for entry in segments::within(db, key, (from, Seq::MAX))? {
        for (seq, item) in entry.items(db)? {
            item_ids::move_to(db, key, &item.id, seq, to)?;
        }
    }
    db.prepare_cached(SQL)?.execute(params![
        key.tenant(),
        key.shard(),
        key.thread(),
        position(from),
        to.thread(),
    ])?;
    Ok(())
}
