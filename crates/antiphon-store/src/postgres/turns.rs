//! Commits turns.

use futures_util::future;

use super::conversations::count;
use super::failure::Failure;
use super::segments::{self, TurnResponse};
use super::session::Session;
use super::transaction::Transaction;
use super::{
    conversations, erasure, ledger_names, notices, pending_turns, queue_places, responses, sweep,
    threads,
};
use crate::error::StoreError;
use crate::ids::{Tenant, ThreadId};
use crate::keys::ThreadKey;
use crate::ledger_records::LedgerSubject;
use crate::records::{Cursor, Destination, ResponseRange, Seq, TurnRecord, TurnState};

type Result<T> = std::result::Result<T, Failure>;

/// Commits a turn of the process `holder`: its items, its record and its ledger changes. Removes
/// its pending turn. Returns the previous bearer of its name, if that is in another tree of forks,
/// for [`ledger_names::delete_outlived`].
pub(super) async fn commit(
    db: &Session,
    tenant: &Tenant,
    turn: &TurnRecord,
    holder: &str,
) -> Result<Option<LedgerSubject>> {
    let place = check(db, tenant, turn, holder).await?;
    let (written, followed) =
        future::join(write(db, turn, &place), Box::pin(ledger_names::follow(db, tenant, turn)))
            .await;
    written?;
    if let Some(left) = place.left_behind {
        sweep::sweep(db, ThreadKey::from_cursor(tenant, left)).await?;
    }
    followed
}

/// Commits a turn as [`commit`] does, and the transaction with it: in two round trips, unless the
/// turn renames a ledger or leaves items that nothing reaches.
pub(super) async fn commit_last(
    db: &Transaction,
    tenant: &Tenant,
    turn: &TurnRecord,
    holder: &str,
) -> Result<Option<LedgerSubject>> {
    if turn.ledger.is_some() {
        return commit(db, tenant, turn, holder).await;
    }
    let place = check(db, tenant, turn, holder).await?;
    match place.left_behind {
        None => db.commit_with(Box::pin(write(db, turn, &place))).await?,
        Some(left) => {
            write(db, turn, &place).await?;
            sweep::sweep(db, ThreadKey::from_cursor(tenant, left)).await?;
        }
    }
    Ok(None)
}

/// The place of a turn's items.
struct Place<'a> {
    key: ThreadKey<'a>,
    /// The position of the first.
    start: Seq,
    /// The thread that is created for them: the point that it continues, if any.
    creation: Option<Creation>,
    /// The point that the pending turn continued from, if nothing of the turn reaches it.
    left_behind: Option<Cursor>,
}

/// The origin of a new thread.
enum Creation {
    Root,
    /// A fork of another thread, which may have been deleted.
    ForkOf(ThreadId),
}

/// Rejects a turn that must not be committed. Returns the place of its items.
async fn check<'a>(
    db: &Session,
    tenant: &'a Tenant,
    turn: &TurnRecord,
    holder: &str,
) -> Result<Place<'a>> {
    turn.check_shard()?;
    let (stands, pending, unerased, placed) = future::join4(
        check_place(db, tenant, turn, holder),
        check_unsettled(db, tenant, turn),
        erasure::check_unerased(db, tenant, turn.response.as_ref()),
        place(db, tenant, &turn.destination),
    )
    .await;
    unerased?;
    stands?;
    let left_behind = pending?.filter(|reached| !covers(&turn.destination, *reached));
    Ok(Place { left_behind, ..placed? })
}

/// Writes a turn, and removes its pending turn. Sends all statements when it is first polled.
async fn write(db: &Session, turn: &TurnRecord, place: &Place<'_>) -> Result<()> {
    let (key, input_from) = (place.key, place.start);
    let output_from = input_from.saturating_add(count(&turn.input));
    let end = output_from.saturating_add(count(&turn.output));
    let range = ResponseRange { input_from, output_from, end };
    let request = turn.request.as_ref();
    let response = turn.response.as_ref().map(|response| TurnResponse { response, request, range });
    let items = turn.input.iter().chain(&turn.output);
    let (appended, advanced, concluded) = future::join3(
        segments::append(db, key, input_from, items, response),
        advance(db, place, turn, end),
        conclude(db, key.owner, turn),
    )
    .await;
    appended.and(advanced).and(concluded)
}

/// Creates the thread, or moves its end. Records the last turn of a conversation's thread.
async fn advance(db: &Session, place: &Place<'_>, turn: &TurnRecord, end: Seq) -> Result<()> {
    let key = place.key;
    match place.creation {
        None => {
            let is_named = matches!(turn.destination, Destination::Conversation(_));
            let last = turn.request.as_ref().filter(|_| is_named).zip(Some(place.start));
            threads::advance(db, key, end, last).await
        }
        Some(Creation::Root) => threads::create_root(db, key, end, false).await,
        Some(Creation::ForkOf(parent)) => {
            let parent = ThreadKey { id: parent, ..key };
            threads::create_fork(db, parent, place.start, key, end).await
        }
    }
}

/// Removes the pending turn, and stores the notices of its end.
async fn conclude(db: &Session, tenant: &Tenant, turn: &TurnRecord) -> Result<()> {
    let Some(response) = &turn.response else { return Ok(()) };
    let (removed, notified) = future::join(
        pending_turns::forget(db, tenant, &response.id),
        notices::insert(db, tenant, &response.id, &turn.notices, TurnState::Ended),
    )
    .await;
    removed.map(drop).and(notified)
}

/// Rejects a turn whose place is not the first in the conversation's queue.
async fn check_place(db: &Session, tenant: &Tenant, turn: &TurnRecord, holder: &str) -> Result<()> {
    match (&turn.destination, turn.place) {
        (Destination::Conversation(id), Some(place)) => {
            queue_places::check(db, tenant, id, place, holder).await
        }
        _ => Ok(()),
    }
}

/// Rejects a turn that another process has settled. Returns the point that its pending turn
/// continues from.
async fn check_unsettled(
    db: &Session,
    tenant: &Tenant,
    turn: &TurnRecord,
) -> Result<Option<Cursor>> {
    let Some(response) = &turn.response else { return Ok(None) };
    let (unrecorded, reached) = future::join(
        responses::check_unrecorded(db, tenant, &response.id),
        pending_turns::reach(db, tenant, &response.id),
    )
    .await;
    unrecorded.and(reached)
}

/// The destination thread of the turn's items, and their first position in it.
async fn place<'a>(
    db: &Session,
    tenant: &'a Tenant,
    destination: &Destination,
) -> Result<Place<'a>> {
    match destination {
        Destination::New { shard, thread } => {
            let key = ThreadKey::new(tenant, *shard, *thread);
            Ok(Place { key, start: 0, creation: Some(Creation::Root), left_behind: None })
        }
        Destination::After { cursor, fork, end_of } => {
            let moved = match end_of {
                Some(response) => responses::find(db, tenant, response).await?,
                None => None,
            };
            place_after(db, tenant, moved.map_or(*cursor, |record| record.cursor), *fork).await
        }
        Destination::Conversation(id) => {
            let end = conversations::end(db, tenant, id).await?;
            let end = end.ok_or(StoreError::ConversationNotFound)?;
            let key = ThreadKey::from_cursor(tenant, end);
            Ok(Place { key, start: end.end, creation: None, left_behind: None })
        }
    }
}

/// Appends at the tip of a chain. At any other point, and in a thread that a conversation names or
/// named, the turn forks.
async fn place_after<'a>(
    db: &Session,
    tenant: &'a Tenant,
    cursor: Cursor,
    fork: ThreadId,
) -> Result<Place<'a>> {
    let key = ThreadKey::from_cursor(tenant, cursor);
    let found = threads::find(db, key).await?;
    let place = Place { key, start: cursor.end, creation: None, left_behind: None };
    if found.is_some_and(|thread| thread.tip == cursor.end && !thread.named) {
        return Ok(place);
    }
    let creation = Some(Creation::ForkOf(key.id));
    Ok(Place { key: ThreadKey { id: fork, ..key }, creation, ..place })
}

/// Whether the committed turn itself reaches the items that its pending turn reached.
fn covers(destination: &Destination, reached: Cursor) -> bool {
    matches!(destination, Destination::After { cursor, end_of: None, .. }
        if cursor.thread == reached.thread && cursor.end >= reached.end)
}
