//! Pending turns: the data to commit if the process dies before a turn ends.

use bytes::Bytes;
use futures_util::future;
use tokio_postgres::Row;

use super::failure::Failure;
use super::responses::{invalid_id, read_new};
use super::row;
use super::session::Session;
use super::shared::Shared;
use super::statements::statements;
use super::transaction::{Effect, Lock};
use super::{ledger_names, notices, sweep, turns};
use crate::encoding;
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant};
use crate::keys::{
    ThreadKey, position, row_key, seq_from_column, shard, thread, thread_from_column,
};
use crate::records::{Cursor, Destination, Notice, RequestDigest, TurnRecord, TurnState};

type Result<T> = std::result::Result<T, Failure>;

/// Records a pending turn of the process `holder`. Replaces an earlier one with the same id.
pub(super) async fn record(
    shared: Shared,
    tenant: Tenant,
    turn: TurnRecord,
) -> std::result::Result<(), StoreError> {
    let id = turn.announced()?.id.clone();
    shared.own_turns.add(&tenant, &id);
    let given = (tenant, turn, shared.holder.clone());
    let is_recorded = given.1.notices.is_empty()
        && shared
            .run(&given, |db, (tenant, turn, holder)| Box::pin(insert(db, tenant, turn, holder)))
            .await?;
    if is_recorded {
        return Ok(());
    }
    let tree = Lock::Tree(&given.0, id.shard());
    shared
        .write(Effect::Unsynced, tree, &given, |db, (tenant, turn, holder)| {
            Box::pin(replace(db, tenant, turn, holder))
        })
        .await
}

async fn replace(db: &Session, tenant: &Tenant, turn: &TurnRecord, holder: &str) -> Result<()> {
    let id = &turn.announced()?.id;
    let (removed, inserted, notified) = future::join3(
        remove(db, tenant, id),
        insert(db, tenant, turn, holder),
        Box::pin(notices::insert(db, tenant, id, &turn.notices, TurnState::Open)),
    )
    .await;
    removed.and(inserted.map(drop)).and(notified)
}

/// Inserts a pending turn with one statement, and renews the lease of its process if it has
/// expired. Returns `false` if there is one with the same id already. Needs no lock: the statement
/// reads nothing that another writer of the tree changes.
async fn insert(db: &Session, tenant: &Tenant, turn: &TurnRecord, holder: &str) -> Result<bool> {
    let response = turn.announced()?;
    let (into, continued, after, fork) = match &turn.destination {
        Destination::New { thread, .. } => (None, Some(*thread), None, None),
        Destination::After { cursor, fork, .. } => {
            (None, Some(cursor.thread), Some(cursor.end), Some(*fork))
        }
        Destination::Conversation(id) => (Some(id.as_str()), None, None, None),
    };
    let inserted = db
        .row(
            &INSERT,
            &[
                &tenant.as_str(),
                &shard(response.id.shard()),
                &response.id.as_str(),
                &holder,
                &into,
                &continued.map(thread),
                &after.map(position),
                &fork.map(thread),
                &response.conversation.as_ref().map(ConversationId::as_str),
                &response.created_at,
                &&*response.envelope,
                &&*response.report,
                &turn.request.as_ref().map(|request| &request.0[..]),
                &response.copy.as_ref().map(|copy| &*copy.sealed),
                &response.copy.as_ref().map(|copy| copy.expires_at),
                &encoding::encode(&turn.input),
            ],
        )
        .await?;
    Ok(inserted.is_some())
}

/// The pending turns of this request, newest first.
pub(super) async fn find_by_request(
    db: &Session,
    tenant: &Tenant,
    in_shard: Shard,
    request: &RequestDigest,
    limit: i64,
) -> Result<Vec<ResponseId>> {
    let given = (tenant.as_str(), shard(in_shard), &request.0[..]);
    let rows = db.rows(&FIND_BY_REQUEST, &[&given.0, &given.1, &given.2, &limit]).await?;
    rows.iter().map(|row| ResponseId::parse(row.get(0)).ok_or_else(invalid_id)).collect()
}

/// The process that recorded a pending turn.
pub(super) async fn holder(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Option<String>> {
    let found = db.row(&HOLDER, &[&tenant.as_str(), &shard(id.shard()), &id.as_str()]).await?;
    Ok(found.map(|row| row.get(0)))
}

/// Deletes a pending turn that leaves no record, and the provider's id of its response.
pub(super) async fn discard(db: &Session, tenant: &Tenant, id: &ResponseId) -> Result<()> {
    let (removed, unnamed) =
        future::join(remove(db, tenant, id), ledger_names::unname_unrecorded(db, tenant, id)).await;
    removed.and(unnamed)
}

/// Deletes a pending turn, and the items that only it still reached.
pub(super) async fn remove(db: &Session, tenant: &Tenant, id: &ResponseId) -> Result<()> {
    match forget(db, tenant, id).await? {
        Some(reached) => sweep::sweep(db, ThreadKey::from_cursor(tenant, reached)).await,
        None => Ok(()),
    }
}

/// Deletes a pending turn. Returns the point in a thread that it continued from.
pub(super) async fn forget(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Option<Cursor>> {
    let given = row_key(tenant, id);
    let (removed, untold) = future::join(
        db.row(&REMOVE, &[&given.0, &given.1, &given.2]),
        notices::remove_open(db, tenant, id),
    )
    .await;
    untold?;
    Ok(removed?.and_then(|row| read_reach(&row, id)))
}

/// The point in a thread that a pending turn continues from.
pub(super) async fn reach(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Option<Cursor>> {
    let given = row_key(tenant, id);
    let found = db.row(&REACH, &[&given.0, &given.1, &given.2]).await?;
    Ok(found.and_then(|row| read_reach(&row, id)))
}

fn read_reach(row: &Row, id: &ResponseId) -> Option<Cursor> {
    let (thread, after) = row.get::<_, Option<i64>>(0).zip(row.get::<_, Option<i64>>(1))?;
    let (thread, end) = (thread_from_column(thread), seq_from_column(after));
    Some(Cursor { shard: id.shard(), thread, end })
}

/// The pending turn with this id. `None` if the turn is no longer open.
pub(super) async fn read(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Option<TurnRecord>> {
    let given = row_key(tenant, id);
    let (found, notices) = future::join(
        db.row(&READ, &[&given.0, &given.1, &given.2]),
        notices::find_open(db, tenant, id),
    )
    .await;
    let (found, notices) = (found?, notices?);
    found.map(|row| read_turn(&row, notices)).transpose()
}

fn read_turn(row: &Row, notices: Vec<Notice>) -> Result<TurnRecord> {
    let response = read_new(row)?;
    let request: Option<&[u8]> = row.get(11);
    let input = encoding::decode(Bytes::copy_from_slice(row.get(12)))?;
    Ok(TurnRecord {
        destination: read_destination(row, &response.id)?,
        input,
        output: Vec::new(),
        response: Some(response),
        request: request.map(row::sixteen).transpose()?.map(RequestDigest),
        place: None,
        ledger: None,
        notices,
    })
}

fn read_destination(row: &Row, id: &ResponseId) -> Result<Destination> {
    let shard = id.shard();
    if let Some(into) = row.get::<_, Option<&str>>(7) {
        return Ok(Destination::Conversation(ConversationId::parse(into).ok_or_else(invalid_id)?));
    }
    let thread = thread_from_column(row.get(8));
    let after: Option<(i64, i64)> = row.get::<_, Option<i64>>(9).zip(row.get::<_, Option<i64>>(10));
    Ok(match after {
        Some((after, fork)) => Destination::After {
            cursor: Cursor { shard, thread, end: seq_from_column(after) },
            fork: thread_from_column(fork),
            // A turn is never retracted while a pending turn continues from it.
            end_of: None,
        },
        None => Destination::New { shard, thread },
    })
}

/// The number of pending turns in one query.
const BATCH: i64 = 256;

/// The ordinal, tenant and response of a pending turn.
type Found = (i64, Tenant, ResponseId);

/// Commits the pending turns of dead processes, in the order in which they were recorded. Returns
/// the number of commits. If several processes do so at once, each turn is settled once.
pub(super) async fn settle(shared: &Shared) -> std::result::Result<usize, StoreError> {
    let (mut settled, mut after) = (0, 0);
    loop {
        let found = shared
            .run(&(after, shared.holder.clone()), |db, (after, holder)| {
                Box::pin(find_left(db, *after, holder))
            })
            .await?;
        let Some((last, ..)) = found.last() else { return Ok(settled) };
        after = *last;
        settled += settle_all(shared, found).await?;
    }
}

/// Deletes the records of this process whose turns have ended.
pub(super) async fn discard_ended(shared: &Shared) -> std::result::Result<(), StoreError> {
    let own = shared.run(&shared.holder, |db, holder| Box::pin(find_own(db, holder))).await?;
    for given in own.into_iter().filter(|(tenant, id)| !shared.own_turns.contains(tenant, id)) {
        let tree = Lock::Tree(&given.0, given.1.shard());
        shared
            .write(Effect::Synced, tree, &given, |db, (tenant, id)| {
                Box::pin(discard(db, tenant, id))
            })
            .await?;
    }
    Ok(())
}

async fn find_own(db: &Session, holder: &str) -> Result<Vec<(Tenant, ResponseId)>> {
    let rows = db.rows(&OWN, &[&holder]).await?;
    let own = rows.iter().map(|row| {
        let id = ResponseId::parse(row.get(1)).ok_or_else(invalid_id)?;
        Ok((Tenant::new(row.get::<_, &str>(0)), id))
    });
    own.collect()
}

/// Commits the pending turns of dead processes in one tree of forks.
pub(super) async fn settle_in_tree(
    shared: &Shared,
    tenant: &Tenant,
    in_shard: Shard,
) -> std::result::Result<usize, StoreError> {
    let given = (tenant.clone(), in_shard, shared.holder.clone());
    let found = shared
        .run(&given, |db, (tenant, shard, holder)| {
            Box::pin(find_left_in_tree(db, tenant, *shard, holder))
        })
        .await?;
    settle_all(shared, found).await
}

async fn settle_all(shared: &Shared, found: Vec<Found>) -> std::result::Result<usize, StoreError> {
    let mut settled = 0;
    for (_, tenant, id) in found {
        settled += usize::from(settle_one(shared, tenant, id).await?);
    }
    Ok(settled)
}

/// Commits a pending turn, if it still belongs to a dead process. Returns whether it did. Drops a
/// turn that cannot be committed; if the database is unavailable, fails and leaves the turn.
async fn settle_one(
    shared: &Shared,
    tenant: Tenant,
    id: ResponseId,
) -> std::result::Result<bool, StoreError> {
    let given = (tenant, id, shared.holder.clone());
    let tree = Lock::Tree(&given.0, given.1.shard());
    let settled = shared
        .write(Effect::Synced, tree, &given, |db, (tenant, id, holder)| {
            Box::pin(commit(db, tenant, id, holder))
        })
        .await;
    match settled {
        Ok(settled) => Ok(settled),
        Err(error) if error.is_outage() => Err(error),
        Err(_) => {
            shared
                .write(Effect::Unsynced, tree, &given, |db, (tenant, id, _)| {
                    Box::pin(discard(db, tenant, id))
                })
                .await?;
            Ok(false)
        }
    }
}

/// Commits an interrupted turn. Its provider may hold more of it, so the ledger becomes stale.
async fn commit(db: &Session, tenant: &Tenant, id: &ResponseId, holder: &str) -> Result<bool> {
    let given = row_key(tenant, id);
    if db.row(&IS_LEFT, &[&given.0, &given.1, &given.2, &holder]).await?.is_none() {
        return Ok(false);
    }
    let Some(turn) = read(db, tenant, id).await? else { return Ok(false) };
    turns::commit(db, tenant, &turn, holder).await?;
    if let Destination::Conversation(id) = &turn.destination {
        ledger_names::set_stale(db, tenant, id, true).await?;
    }
    Ok(true)
}

async fn find_left(db: &Session, after: i64, holder: &str) -> Result<Vec<Found>> {
    let rows = db.rows(&LEFT_BEHIND, &[&after, &holder, &BATCH]).await?;
    let found = rows.iter().map(|row| {
        let id = ResponseId::parse(row.get(2)).ok_or_else(invalid_id)?;
        Ok((row.get(0), Tenant::new(row.get::<_, &str>(1)), id))
    });
    found.collect()
}

async fn find_left_in_tree(
    db: &Session,
    tenant: &Tenant,
    in_shard: Shard,
    holder: &str,
) -> Result<Vec<Found>> {
    let rows = db.rows(&LEFT_IN, &[&tenant.as_str(), &shard(in_shard), &holder]).await?;
    let found = rows.iter().map(|row| {
        let id = ResponseId::parse(row.get(1)).ok_or_else(invalid_id)?;
        Ok((row.get(0), tenant.clone(), id))
    });
    found.collect()
}

statements! {
    /// As a transaction of its own, its commit does not wait for the disk.
    INSERT = "
        WITH renewed AS (
            INSERT INTO holders (id, expires_at) SELECT $4, now() + interval '15 seconds'
            WHERE NOT EXISTS (SELECT FROM holders WHERE id = $4 AND expires_at > now())
            ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at
        )
        INSERT INTO pending_turns (tenant, shard, id, holder, into_conversation, thread, after,
                                   fork, conversation, created_at, envelope, report, request,
                                   copy, copy_until, items)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
        ON CONFLICT DO NOTHING
        RETURNING set_config('synchronous_commit', 'off', true)";
    FIND_BY_REQUEST = "
        SELECT id FROM pending_turns WHERE tenant = $1 AND shard = $2 AND request = $3
        ORDER BY ordinal DESC LIMIT $4";
    REACH = "SELECT thread, after FROM pending_turns WHERE tenant = $1 AND shard = $2 AND id = $3";
    HOLDER = "SELECT holder FROM pending_turns WHERE tenant = $1 AND shard = $2 AND id = $3";
    REMOVE = "
        DELETE FROM pending_turns WHERE tenant = $1 AND shard = $2 AND id = $3
        RETURNING thread, after";
    READ = "
        SELECT id, conversation, created_at, envelope, report, copy, copy_until,
               into_conversation, thread, after, fork, request, items
        FROM pending_turns WHERE tenant = $1 AND shard = $2 AND id = $3";
    OWN = "SELECT tenant, id FROM pending_turns WHERE holder = $1";
    LEFT_BEHIND = "
        SELECT ordinal, tenant, id FROM pending_turns
        WHERE ordinal > $1 AND holder <> $2
          AND NOT EXISTS (SELECT FROM holders WHERE holders.id = holder AND expires_at > now())
        ORDER BY ordinal LIMIT $3";
    LEFT_IN = "
        SELECT ordinal, id FROM pending_turns
        WHERE tenant = $1 AND shard = $2 AND holder <> $3
          AND NOT EXISTS (SELECT FROM holders WHERE holders.id = holder AND expires_at > now())
        ORDER BY ordinal";
    IS_LEFT = "
        SELECT FROM pending_turns
        WHERE tenant = $1 AND shard = $2 AND id = $3 AND holder <> $4
          AND NOT EXISTS (SELECT FROM holders WHERE holders.id = holder AND expires_at > now())";
}
