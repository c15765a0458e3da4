//! The queue of a conversation.

use super::abandoned_places::DrawnPlaces;
use super::failure::Failure;
use super::holders;
use super::session::Session;
use super::statements::statements;
use crate::error::StoreError;
use crate::ids::{ConversationId, Tenant};
use crate::keys::{row_key, shard};
use crate::records::QueuePlace;

type Result<T> = std::result::Result<T, Failure>;

/// The processes before a place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    Nobody,
    /// At least one living process.
    Living,
    /// Dead processes only.
    Dead,
}

/// Takes the last place for `holder`, and notes it in `drawn`. The caller holds the lock of the
/// queue, so that places become visible in the order in which they are drawn.
pub(super) async fn join(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    holder: &str,
    drawn: &DrawnPlaces,
) -> Result<QueuePlace> {
    let given = row_key(tenant, id);
    let (joined, alive) = futures_util::future::join(
        db.row(&JOIN, &[&given.0, &given.1, &given.2, &holder]),
        holders::renew_expired(db, holder),
    )
    .await;
    let row = joined?.ok_or_else(|| Failure::unreadable("no place for a process that joined"))?;
    let place = place_of(row.get(0));
    drawn.note(place);
    alive.map(|()| place)
}

/// The processes before `place`, which belongs to `holder`.
pub(super) async fn ahead(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    place: QueuePlace,
    holder: &str,
) -> Result<Ahead> {
    let given = (tenant.as_str(), shard(id.shard()), id.as_str(), column(place));
    let found = db.row(&AHEAD, &[&given.0, &given.1, &given.2, &given.3, &holder]).await?;
    let found = found.ok_or(StoreError::LeaseLost)?;
    Ok(match (found.get(0), found.get(1)) {
        (true, _) => Ahead::Living,
        (false, true) => Ahead::Dead,
        (false, false) => Ahead::Nobody,
    })
}

/// Deletes the places of dead processes before `place`. A process that still has pending turns in
/// this tree of forks keeps its places: it may have died after the caller settled the others.
pub(super) async fn pass_over(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    place: QueuePlace,
) -> Result<()> {
    let given = (tenant.as_str(), shard(id.shard()), id.as_str(), column(place));
    db.execute(&PASS_OVER, &[&given.0, &given.1, &given.2, &given.3]).await.map(drop)
}

/// Gives up a place.
pub(super) async fn leave(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    place: QueuePlace,
    holder: &str,
) -> Result<()> {
    let given = (tenant.as_str(), shard(id.shard()), id.as_str(), column(place));
    db.execute(&LEAVE, &[&given.0, &given.1, &given.2, &given.3, &holder]).await.map(drop)
}

/// Rejects a commit from a place that was deleted or is not first. Locks the row, so that the place
/// cannot be deleted before the transaction ends.
pub(super) async fn check(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    place: QueuePlace,
    holder: &str,
) -> Result<()> {
    let given = (tenant.as_str(), shard(id.shard()), id.as_str(), column(place));
    let found = db.row(&CHECK, &[&given.0, &given.1, &given.2, &given.3, &holder]).await?;
    match found.map(|row| row.get(0)) {
        Some(true) => Ok(()),
        _ => Err(StoreError::LeaseLost.into()),
    }
}

/// Converts a place to a column. Places begin with a time, so none is too large.
pub(super) fn column(place: QueuePlace) -> i64 {
    place.0.cast_signed()
}

fn place_of(column: i64) -> QueuePlace {
    QueuePlace(column.cast_unsigned())
}

statements! {
    /// A place is the time in milliseconds, and below it 20 bits of a sequence. A crash of the
    /// database can reset the sequence, but processes still remember the places that they gave up.
    /// If the clock was set back, the place is still the last of its queue.
    JOIN = "
        INSERT INTO leases (tenant, shard, conversation, place, holder)
        SELECT $1, $2, $3,
               greatest(((extract(epoch FROM clock_timestamp()) * 1000)::bigint << 20)
                            | (nextval('places') & 1048575),
                        max(place) + 1),
               $4
        FROM leases WHERE tenant = $1 AND shard = $2 AND conversation = $3
        RETURNING place";
    AHEAD = "
        SELECT coalesce(bool_or(alive), false), coalesce(bool_or(NOT alive), false)
        FROM leases AS mine LEFT JOIN LATERAL (
            SELECT EXISTS (
                SELECT FROM holders WHERE id = before.holder AND expires_at > now()
            ) AS alive
            FROM leases AS before
            WHERE tenant = $1 AND shard = $2 AND conversation = $3 AND place < $4
        ) AS ahead ON true
        WHERE tenant = $1 AND shard = $2 AND conversation = $3 AND place = $4 AND holder = $5
        GROUP BY place";
    PASS_OVER = "
        DELETE FROM leases
        WHERE tenant = $1 AND shard = $2 AND conversation = $3 AND place < $4
          AND NOT EXISTS (SELECT FROM holders WHERE id = holder AND expires_at > now())
          AND NOT EXISTS (
              SELECT FROM pending_turns
              WHERE tenant = $1 AND shard = $2 AND pending_turns.holder = leases.holder
          )";
    LEAVE = "
        DELETE FROM leases
        WHERE tenant = $1 AND shard = $2 AND conversation = $3 AND place = $4 AND holder = $5";
    CHECK = "
        SELECT NOT EXISTS (
            SELECT FROM leases AS before
            WHERE tenant = $1 AND shard = $2 AND conversation = $3 AND place < $4
        )
        FROM leases
        WHERE tenant = $1 AND shard = $2 AND conversation = $3 AND place = $4 AND holder = $5
        FOR UPDATE";
}
