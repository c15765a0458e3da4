//! Commits turns.

use futures_util::future;

use super::conversations::count;
use super::failure::Failure;
use super::session::Session;
use super::{
    conversations, erasure, items, ledger_names, notices, pending_turns, queue_places, responses,
    sweep, threads,
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
    turn.check_shard()?;
    let (stands, unsettled, unerased, placed) = future::join4(
        check_place(db, tenant, turn, holder),
        check_unsettled(db, tenant, turn),
        erasure::check_unerased(db, tenant, turn.response.as_ref()),
        place(db, tenant, &turn.destination),
    )
    .await;
    let (key, input_from) = unerased.and(stands).and(unsettled).and(placed)?;
    let output_from = input_from.saturating_add(count(&turn.input));
    let end = output_from.saturating_add(count(&turn.output));
    let range = ResponseRange { input_from, output_from, end };
    let (appended, advanced, noted, recorded, followed) = future::join5(
        items::append(db, key, input_from, turn.input.iter().chain(&turn.output)),
        threads::advance(db, key, end),
        note(db, key, turn, input_from),
        Box::pin(record(db, key, turn, range)),
        Box::pin(ledger_names::follow(db, tenant, turn)),
    )
    .await;
    appended.and(advanced).and(noted).and(recorded).and(followed)
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

/// Rejects a turn that another process has settled.
async fn check_unsettled(db: &Session, tenant: &Tenant, turn: &TurnRecord) -> Result<()> {
    match &turn.response {
        Some(response) => responses::check_unrecorded(db, tenant, &response.id).await,
        None => Ok(()),
    }
}

/// The destination thread of the turn's items, and their first position in it.
async fn place<'a>(
    db: &Session,
    tenant: &'a Tenant,
    destination: &Destination,
) -> Result<(ThreadKey<'a>, Seq)> {
    match destination {
        Destination::New { shard, thread } => {
            let key = ThreadKey::new(tenant, *shard, *thread);
            threads::create_root(db, key, 0, false).await?;
            Ok((key, 0))
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
            Ok((ThreadKey::from_cursor(tenant, end), end.end))
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
) -> Result<(ThreadKey<'a>, Seq)> {
    let key = ThreadKey::from_cursor(tenant, cursor);
    let is_tip = threads::find(db, key)
        .await?
        .is_some_and(|thread| thread.tip == cursor.end && !thread.named);
    if is_tip {
        return Ok((key, cursor.end));
    }
    threads::create_fork(db, key, cursor.end, fork).await?;
    Ok((ThreadKey { id: fork, ..key }, cursor.end))
}

/// Records the last turn of a conversation's thread.
async fn note(db: &Session, key: ThreadKey<'_>, turn: &TurnRecord, from: Seq) -> Result<()> {
    match turn.destination {
        Destination::Conversation(_) => {
            let request = turn.request.as_ref();
            threads::note_turn(db, key, request.map(|request| (request, from))).await
        }
        _ => Ok(()),
    }
}

async fn record(
    db: &Session,
    key: ThreadKey<'_>,
    turn: &TurnRecord,
    range: ResponseRange,
) -> Result<()> {
    let Some(response) = &turn.response else { return Ok(()) };
    let request = turn.request.as_ref();
    let (recorded, removed) = future::join(
        responses::insert(db, key, response, request, range),
        pending_turns::forget(db, key.owner, &response.id),
    )
    .await;
    recorded?;
    let reached = removed?;
    let (tenant, ended) = (key.owner, TurnState::Ended);
    notices::insert(db, tenant, &response.id, &turn.notices, ended).await?;
    match reached {
        Some(reached) if !covers(&turn.destination, reached) => {
            sweep::sweep(db, ThreadKey::from_cursor(key.owner, reached)).await
        }
        _ => Ok(()),
    }
}

/// Whether the committed turn itself reaches the items that its pending turn reached.
fn covers(destination: &Destination, reached: Cursor) -> bool {
    matches!(destination, Destination::After { cursor, end_of: None, .. }
        if cursor.thread == reached.thread && cursor.end >= reached.end)
}
