//! Commits turns.

use rusqlite::Connection;

use super::keys::ThreadKey;
use super::segments::{self, TurnResponse};
use super::{conversations, ledger_names, notices, pending_turns, responses, sweep, threads};
use crate::error::StoreError;
use crate::ids::{ResponseId, Tenant, ThreadId};
use crate::records::{Cursor, Destination, ResponseRange, Seq, TurnRecord, TurnState};

type Result<T> = std::result::Result<T, StoreError>;

/// Commits a turn: its items, its record and its ledger changes. Removes its pending turn. Returns
/// its end.
pub(super) fn commit(db: &Connection, tenant: &Tenant, turn: &TurnRecord) -> Result<Cursor> {
    turn.check_shard()?;
    let length = (turn.input.len() + turn.output.len()) as u64;
    let place = place(db, tenant, &turn.destination, length)?;
    check_unrecorded(db, turn, &place)?;
    let (key, input_from) = (place.key, place.start);
    let output_from = input_from.saturating_add(turn.input.len() as u64);
    let range = ResponseRange { input_from, output_from, end: input_from.saturating_add(length) };
    let request = turn.request.as_ref();
    let response = turn.response.as_ref().map(|response| TurnResponse { response, request, range });
    let items = turn.input.iter().chain(&turn.output);
    if place.is_new {
        segments::append_to_new(db, key, items, response)?;
    } else {
        segments::append(db, key, input_from, items, response)?;
        let is_named = matches!(turn.destination, Destination::Conversation(_));
        let last = request.filter(|_| is_named).map(|request| (request, input_from));
        threads::advance(db, key, range.end, last)?;
    }
    if let Some(response) = &turn.response {
        forget_pending(db, key, &response.id)?;
        notices::insert(db, tenant, &response.id, &turn.notices, TurnState::Ended)?;
    }
    if let Some(ledger) = &turn.ledger {
        ledger_names::follow(db, tenant, turn, ledger)?;
    }
    Ok(Cursor { shard: key.in_shard, thread: key.id, end: range.end })
}

/// Removes the pending turn of a turn that was committed in the thread `key`. If it continued from
/// another thread, it may leave items there that nothing reaches.
fn forget_pending(db: &Connection, key: ThreadKey<'_>, id: &ResponseId) -> Result<()> {
    let left = pending_turns::forget(db, key.owner, id)?;
    match left.filter(|left| left.thread != key.id) {
        Some(left) => sweep::sweep(db, ThreadKey::from_cursor(key.owner, left)),
        None => Ok(()),
    }
}

/// Rejects a turn whose response has a record already, which then begins where the turn would. The
/// threads that a turn creates are its own, so they do not exist twice.
fn check_unrecorded(db: &Connection, turn: &TurnRecord, place: &Place<'_>) -> Result<()> {
    let Some(response) = &turn.response else { return Ok(()) };
    let (thread, from) = match &turn.destination {
        Destination::New { .. } => return Ok(()),
        Destination::After { cursor, .. } => (cursor.thread, cursor.end),
        Destination::Conversation(_) => (place.key.id, 0),
    };
    let key = ThreadKey { id: thread, ..place.key };
    match responses::is_recorded(db, key, from, &response.id)? {
        true => Err(StoreError::Unavailable("the response has a record already".into())),
        false => Ok(()),
    }
}

/// The place of a turn's items.
struct Place<'a> {
    key: ThreadKey<'a>,
    /// The position of the first.
    start: Seq,
    /// Whether the thread was created for the turn, with its end after the last item.
    is_new: bool,
}

/// The place of a turn with `length` items.
fn place<'a>(
    db: &Connection,
    tenant: &'a Tenant,
    destination: &Destination,
    length: u64,
) -> Result<Place<'a>> {
    match destination {
        Destination::New { shard, thread } => {
            let key = ThreadKey::new(tenant, *shard, *thread);
            threads::create_root(db, key, false, length)?;
            Ok(Place { key, start: 0, is_new: true })
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
            let key = ThreadKey::from_cursor(tenant, end);
            Ok(Place { key, start: end.end, is_new: false })
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
) -> Result<Place<'a>> {
    let key = ThreadKey::from_cursor(tenant, cursor);
    let is_tip =
        threads::find(db, key)?.is_some_and(|thread| thread.tip == cursor.end && !thread.named);
    if is_tip {
        return Ok(Place { key, start: cursor.end, is_new: false });
    }
    threads::create_fork(db, key, cursor.end, fork)?;
    Ok(Place { key: ThreadKey { id: fork, ..key }, start: cursor.end, is_new: false })
}
