//! The line for a conversation.

use super::abandoned::Drawn;
use super::failure::Failure;
use super::holders;
use super::session::Session;
use super::statements::statements;
use crate::error::StoreError;
use crate::ids::{ConversationId, Tenant};
use crate::keys::shard;
use crate::records::Place;

type Result<T> = std::result::Result<T, Failure>;

/// Who stands before a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    Nobody,
    /// At least one process that lives.
    Living,
    /// Only processes that died.
    Dead,
}

/// Takes the last place for `holder`, and notes it in `drawn`. The caller has the line's lock, so that
/// places are drawn and come to be seen in one order.
pub(super) async fn join(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    holder: &str,
    drawn: &Drawn,
) -> Result<Place> {
    let given = (tenant.as_str(), shard(id.shard()), id.as_str());
    let (joined, alive) = futures_util::future::join(
        db.row(&JOIN, &[&given.0, &given.1, &given.2, &holder]),
        holders::is_alive(db, holder),
    )
    .await;
    let row = joined?.ok_or_else(|| Failure::unreadable("no place that was just taken"))?;
    let place = place_of(row.get(0));
    drawn.note(place);
    holders::ensure(db, holder, alive?).await?;
    Ok(place)
}

/// Who stands before `place`, which is `holder`'s.
pub(super) async fn ahead(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    place: Place,
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

/// Takes away the places of the dead before `place`, once what they left open is settled: one may
/// have died since it was.
pub(super) async fn pass_over(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    place: Place,
) -> Result<()> {
    let given = (tenant.as_str(), shard(id.shard()), id.as_str(), column(place));
    db.execute(&PASS_OVER, &[&given.0, &given.1, &given.2, &given.3]).await.map(drop)
}

/// Gives a place up.
pub(super) async fn leave(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    place: Place,
    holder: &str,
) -> Result<()> {
    let given = (tenant.as_str(), shard(id.shard()), id.as_str(), column(place));
    db.execute(&LEAVE, &[&given.0, &given.1, &given.2, &given.3, &holder]).await.map(drop)
}

/// Refuses what is committed from a place that was taken away or is not first. The place cannot be
/// taken away from here to the transaction's end: who wants to waits for the row.
pub(super) async fn check(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    place: Place,
    holder: &str,
) -> Result<()> {
    let given = (tenant.as_str(), shard(id.shard()), id.as_str(), column(place));
    let found = db.row(&CHECK, &[&given.0, &given.1, &given.2, &given.3, &holder]).await?;
    match found.map(|row| row.get(0)) {
        Some(true) => Ok(()),
        _ => Err(StoreError::LeaseLost.into()),
    }
}

/// A place as a column: they are drawn from a sequence, so none is too great.
pub(super) fn column(place: Place) -> i64 {
    place.0.cast_signed()
}

fn place_of(column: i64) -> Place {
    Place(column.cast_unsigned())
}

statements! {
    JOIN = "
        INSERT INTO leases (tenant, shard, conversation, place, holder)
        VALUES ($1, $2, $3, nextval('places'), $4)
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
              SELECT FROM openings
              WHERE tenant = $1 AND shard = $2 AND openings.holder = leases.holder
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
