//! Commits turns.

use rusqlite::Connection;

use super::keys::ThreadKey;
use super::{conversations, items, ledger_names, notices, pending_turns, responses, threads};
use crate::error::StoreError;
use crate::ids::{Tenant, ThreadId};
use crate::records::{Cursor, Destination, ResponseRange, Seq, TurnRecord, TurnState};

type Result<T> = std::result::Result<T, StoreError>;

/// Commits a turn: its items, its record and its ledger changes. Removes its pending turn.
pub(super) fn commit(db: &Connection, tenant: &Tenant, turn: &TurnRecord) -> Result<()> {
    turn.check_shard()?;
    let (key, input_from) = place(db, tenant, &turn.destination)?;
    let output_from = items::append(db, key, input_from, &turn.input)?;
    let end = items::append(db, key, output_from, &turn.output)?;
    threads::advance(db, key, end)?;
    if let Destination::Conversation(_) = turn.destination {
        let request = turn.request.as_ref();
        threads::note_turn(db, key, request.map(|request| (request, input_from)))?;
    }
    if let Some(response) = &turn.response {
        let range = ResponseRange { input_from, output_from, end };
        responses::insert(db, key, response, turn.request.as_ref(), range)?;
        pending_turns::remove(db, tenant, &response.id)?;
        notices::insert(db, tenant, &response.id, &turn.notices, TurnState::Ended)?;
    }
    match &turn.ledger {
        Some(ledger) => ledger_names::follow(db, tenant, turn, ledger),
        None => Ok(()),
    }
}

/// The destination thread of the turn's items, and their first position in it.
fn place<'a>(
    db: &Connection,
    tenant: &'a Tenant,
    destination: &Destination,
) -> Result<(ThreadKey<'a>, Seq)> {
    match destination {
        Destination::New { shard, thread } => {
            let key = ThreadKey::new(tenant, *shard, *thread);
            threads::create_root(db, key, false)?;
            Ok((key, 0))
        }
        Destination::After { cursor, fork, end_of } => {
            let moved = match end_of {
                Some(response) => responses::find(db, tenant, response)?,
                None => None,
            };
            place_after(db, tenant, moved.map_or(*cursor, |record| record.cursor), *fork)
        }
        Destination::Conversation(id) => {
            let end =
                conversations::end(db, tenant, id)?.ok_or(StoreError::ConversationNotFound)?;
            Ok((ThreadKey::from_cursor(tenant, end), end.end))
        }
    }
}

/// Appends at the tip of a chain. At any other point, and in a thread that a conversation names or
/// named, the turn forks.
fn place_after<'a>(
    db: &Connection,
    tenant: &'a Tenant,
    cursor: Cursor,
    fork: ThreadId,
) -> Result<(ThreadKey<'a>, Seq)> {
    let key = ThreadKey::from_cursor(tenant, cursor);
    let is_tip =
        threads::find(db, key)?.is_some_and(|thread| thread.tip == cursor.end && !thread.named);
    if is_tip {
        return Ok((key, cursor.end));
    }
    threads::create_fork(db, key, cursor.end, fork)?;
    Ok((ThreadKey { id: fork, ..key }, cursor.end))
}
