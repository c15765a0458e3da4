//! Commits turns.

use futures_util::future;

use super::conversations::count;
use super::failure::Failure;
use super::segments::{self, TurnResponse};
use super::session::Session;
use super::statements::statements;
use super::transaction::{Effect, Lock, Transaction};
use super::{
    conversations, erasure, ledger_names, notices, pending_turns, queue_places, responses, sweep,
    threads,
};
use crate::error::StoreError;
use crate::ids::{Tenant, ThreadId};
use crate::keys::{ThreadKey, position, thread};
use crate::ledger_records::LedgerSubject;
use crate::records::{Cursor, Destination, NewResponse, ResponseRange, Seq, TurnRecord, TurnState};

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

/// Commits a turn as [`commit`] does, and the transaction with it. Most turns take one round trip;
/// those in a conversation or at a fork, and the first of a connection, take more.
pub(super) async fn commit_last(
    db: &Transaction,
    tenant: &Tenant,
    turn: &TurnRecord,
    holder: &str,
) -> Result<Option<LedgerSubject>> {
    if turn.ledger.is_some() {
        return commit(db, tenant, turn, holder).await;
    }
    match commit_at_once(db, tenant, turn).await? {
        AtOnce::Committed => return Ok(None),
        AtOnce::NotTried => commit_checked(db, tenant, turn, holder).await?,
        AtOnce::Refused => {
            let tree = Lock::Tree(tenant, turn.destination.shard());
            let (began, committed) = future::join(
                db.begin(Effect::Synced, tree),
                Box::pin(commit_checked(db, tenant, turn, holder)),
            )
            .await;
            began.and(committed)?;
        }
    }
    Ok(None)
}

/// Commits a turn in two round trips, unless it leaves items that nothing reaches.
async fn commit_checked(
    db: &Transaction,
    tenant: &Tenant,
    turn: &TurnRecord,
    holder: &str,
) -> Result<()> {
    let place = check(db, tenant, turn, holder).await?;
    match place.left_behind {
        None => db.commit_with(Box::pin(write(db, turn, &place))).await,
        Some(left) => {
            write(db, turn, &place).await?;
            sweep::sweep(db, ThreadKey::from_cursor(tenant, left)).await
        }
    }
}

/// The result of [`commit_at_once`].
enum AtOnce {
    Committed,
    /// The server has rolled back.
    Refused,
    NotTried,
}

/// Sends a turn and the commit with the begin of the transaction, and [`REFUSE`] before them.
async fn commit_at_once(db: &Transaction, tenant: &Tenant, turn: &TurnRecord) -> Result<AtOnce> {
    let (place, after) = match &turn.destination {
        Destination::New { shard, thread } => {
            (Place::in_new_thread(ThreadKey::new(tenant, *shard, *thread)), None)
        }
        Destination::After { cursor, end_of: None, .. } => {
            (Place::at_end(tenant, *cursor), Some(*cursor))
        }
        Destination::After { .. } | Destination::Conversation(_) => return Ok(AtOnce::NotTried),
    };
    let Some(response) = &turn.response else { return Ok(AtOnce::NotTried) };
    let Some(number) = db.expected_number() else { return Ok(AtOnce::NotTried) };
    turn.check_shard()?;
    let checked = async {
        let (expected, written) = future::join(
            refuse_unexpected(db, number, tenant, response, after),
            write(db, turn, &place),
        )
        .await;
        expected.and(written)
    };
    match db.commit_with(Box::pin(checked)).await {
        Ok(()) => Ok(AtOnce::Committed),
        Err(failure) if failure.is_refusal() => Ok(AtOnce::Refused),
        Err(failure) => Err(failure),
    }
}

/// Fails if [`check`] would reject the response or move its items, or if this is not the commit
/// with that number.
async fn refuse_unexpected(
    db: &Transaction,
    number: i64,
    tenant: &Tenant,
    response: &NewResponse,
    after: Option<Cursor>,
) -> Result<()> {
    let given = responses::key(tenant, &response.id);
    let (thread, end) = after.map(|it| (thread(it.thread), position(it.end))).unzip();
    let created_at = response.created_at;
    db.execute(
        &REFUSE,
        &[&db.id, &number, &given.0, &given.1, &given.2, &given.3, &created_at, &thread, &end],
    )
    .await
    .map(drop)
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

impl<'a> Place<'a> {
    fn in_new_thread(key: ThreadKey<'a>) -> Self {
        Self { key, start: 0, creation: Some(Creation::Root), left_behind: None }
    }

    fn at_end(tenant: &'a Tenant, end: Cursor) -> Self {
        let key = ThreadKey::from_cursor(tenant, end);
        Self { key, start: end.end, creation: None, left_behind: None }
    }
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
            Ok(Place::in_new_thread(ThreadKey::new(tenant, *shard, *thread)))
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
            Ok(Place::at_end(tenant, end.ok_or(StoreError::ConversationNotFound)?))
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
    let place = Place::at_end(tenant, cursor);
    let key = place.key;
    let found = threads::find(db, key).await?;
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

statements! {
    /// Fails unless the commit has this number, the response has no record, its tenant was not
    /// erased after its creation, the turn reaches all that its pending turn reaches, and the point
    /// that it continues, if any, is the end of a thread that no conversation names.
    ///
    /// The row exists: the begin has numbered the commit. PostgreSQL casts its id only if the
    /// condition holds; it could cast a constant when it plans the statement.
    REFUSE = "
        SELECT ('refused ' || sessions.id)::integer FROM sessions
        WHERE sessions.id = $1 AND (
            commits <> $2
            OR EXISTS (
                SELECT FROM segments
                WHERE tenant = $3 AND shard = $4 AND response = $5 AND segments.id = $6
            )
            OR EXISTS (SELECT FROM erasures WHERE tenant = $3 AND began_before > $7)
            OR EXISTS (
                SELECT FROM pending_turns
                WHERE tenant = $3 AND shard = $4 AND pending_turns.id = $6 AND after IS NOT NULL
                  AND (thread = $8 AND after <= $9) IS NOT TRUE
            )
            OR ($8::bigint IS NOT NULL AND NOT EXISTS (
                SELECT FROM threads
                WHERE tenant = $3 AND shard = $4 AND thread = $8 AND tip = $9::bigint
                  AND NOT named
            ))
        )";
}
