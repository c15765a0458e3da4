//! Settles the pending turns of dead processes.

use super::failure::Failure;
use super::session::Session;
use super::shared::Shared;
use super::statements::statements;
use super::transaction::{Effect, Lock};
use super::{ledger_names, pending_turns, turns};
use crate::error::StoreError;
use crate::ids::{ResponseId, Shard, Tenant};
use crate::keys;
use crate::records::Destination;

/// The number of pending turns in one query.
const BATCH: i64 = 256;

/// The ordinal, tenant and response of a pending turn.
type Found = (i64, Tenant, ResponseId);

/// Commits the pending turns of dead processes, in the order in which they were recorded. Returns
/// the number of commits. If several processes do so at once, each turn is settled once.
pub(super) async fn settle(shared: &Shared) -> Result<usize, StoreError> {
    let (mut settled, mut behind) = (0, 0);
    loop {
        let found = shared
            .run(&(behind, shared.holder.clone()), |db, (behind, holder)| {
                Box::pin(left_behind(db, *behind, holder))
            })
            .await?;
        let Some((last, ..)) = found.last() else { return Ok(settled) };
        behind = *last;
        settled += settle_all(shared, found).await?;
    }
}

/// Commits the pending turns of dead processes in one tree of forks.
pub(super) async fn settle_in(
    shared: &Shared,
    tenant: &Tenant,
    shard: Shard,
) -> Result<usize, StoreError> {
    let given = (tenant.clone(), shard, shared.holder.clone());
    let found = shared
        .run(&given, |db, (tenant, shard, holder)| Box::pin(left_in(db, tenant, *shard, holder)))
        .await?;
    settle_all(shared, found).await
}

async fn settle_all(shared: &Shared, found: Vec<Found>) -> Result<usize, StoreError> {
    let mut settled = 0;
    for (_, tenant, id) in found {
        settled += usize::from(settle_one(shared, tenant, id).await?);
    }
    Ok(settled)
}

/// Commits a pending turn, if it still belongs to a dead process. Returns whether it did. Drops a
/// turn that cannot be committed; if the database is unavailable, fails and leaves the turn.
async fn settle_one(shared: &Shared, tenant: Tenant, id: ResponseId) -> Result<bool, StoreError> {
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
                    Box::pin(pending_turns::discard(db, tenant, id))
                })
                .await?;
            Ok(false)
        }
    }
}

/// Commits an interrupted turn. Its provider may hold more of it, so the ledger becomes stale.
async fn commit(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
    holder: &str,
) -> Result<bool, Failure> {
    let given = (tenant.as_str(), keys::shard(id.shard()), id.as_str());
    if db.row(&IS_LEFT, &[&given.0, &given.1, &given.2, &holder]).await?.is_none() {
        return Ok(false);
    }
    let Some(turn) = pending_turns::read(db, tenant, id).await? else { return Ok(false) };
    turns::commit(db, tenant, &turn, holder).await?;
    if let Destination::Conversation(id) = &turn.destination {
        ledger_names::set_stale(db, tenant, id, true).await?;
    }
    Ok(true)
}

async fn left_behind(db: &Session, behind: i64, holder: &str) -> Result<Vec<Found>, Failure> {
    let rows = db.rows(&LEFT_BEHIND, &[&behind, &holder, &BATCH]).await?;
    let found = rows.iter().map(|row| {
        let id = ResponseId::parse(row.get(2)).ok_or_else(super::responses::no_id)?;
        Ok((row.get(0), Tenant::new(row.get::<_, &str>(1)), id))
    });
    found.collect()
}

async fn left_in(
    db: &Session,
    tenant: &Tenant,
    shard: Shard,
    holder: &str,
) -> Result<Vec<Found>, Failure> {
    let rows = db.rows(&LEFT_IN, &[&tenant.as_str(), &keys::shard(shard), &holder]).await?;
    let found = rows.iter().map(|row| {
        let id = ResponseId::parse(row.get(1)).ok_or_else(super::responses::no_id)?;
        Ok((row.get(0), tenant.clone(), id))
    });
    found.collect()
}

statements! {
    LEFT_BEHIND = "
        SELECT ordinal, tenant, id FROM openings
        WHERE ordinal > $1 AND holder <> $2
          AND NOT EXISTS (SELECT FROM holders WHERE holders.id = holder AND expires_at > now())
        ORDER BY ordinal LIMIT $3";
    LEFT_IN = "
        SELECT ordinal, id FROM openings
        WHERE tenant = $1 AND shard = $2 AND holder <> $3
          AND NOT EXISTS (SELECT FROM holders WHERE holders.id = holder AND expires_at > now())
        ORDER BY ordinal";
    IS_LEFT = "
        SELECT FROM openings
        WHERE tenant = $1 AND shard = $2 AND id = $3 AND holder <> $4
          AND NOT EXISTS (SELECT FROM holders WHERE holders.id = holder AND expires_at > now())";
}
