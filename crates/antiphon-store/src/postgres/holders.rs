//! The processes that have the store open, by the database's clock.

use super::failure::Failure;
use super::line;
use super::session::Session;
use super::statements::statements;
use crate::records::Place;

type Result<T> = std::result::Result<T, Failure>;

/// Says that the process `holder` lives.
pub(super) async fn beat(db: &Session, holder: &str) -> Result<()> {
    db.execute(&BEAT, &[&holder]).await.map(drop)
}

/// Whether the process `holder` is known to live.
pub(super) async fn is_alive(db: &Session, holder: &str) -> Result<bool> {
    Ok(db.row(&IS_ALIVE, &[&holder]).await?.is_some())
}

/// What this process now holds would be taken for a dead one's if its own time ran out unnoticed.
pub(super) async fn ensure(db: &Session, holder: &str, is_alive: bool) -> Result<()> {
    if is_alive { Ok(()) } else { beat(db, holder).await }
}

/// Gives up some of the places in line that `holder` has.
pub(super) async fn leave_places(db: &Session, holder: &str, places: &[Place]) -> Result<()> {
    let places: Vec<i64> = places.iter().map(|place| line::column(*place)).collect();
    db.execute(&LEAVE_PLACES, &[&holder, &places]).await.map(drop)
}

/// Forgets a process, its connections and its places in line.
pub(super) async fn leave(db: &Session, holder: &str) -> Result<()> {
    db.execute(&LEAVE, &[&holder]).await.map(drop)
}

/// Takes the places of the dead, and forgets those that left nothing else behind. `but` is not
/// among the dead.
pub(super) async fn sweep(db: &Session, but: &str) -> Result<()> {
    db.execute(&SWEEP_PLACES, &[&but]).await?;
    db.execute(&SWEEP, &[&but]).await.map(drop)
}

statements! {
    /// The lease is three beats long.
    BEAT = "
        INSERT INTO holders (id, expires_at) VALUES ($1, now() + interval '15 seconds')
        ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at";
    IS_ALIVE = "SELECT FROM holders WHERE id = $1 AND expires_at > now()";
    LEAVE_PLACES = "DELETE FROM leases WHERE holder = $1 AND place = ANY ($2)";
    LEAVE = "
        WITH left_places AS (DELETE FROM leases WHERE holder = $1),
             closed AS (DELETE FROM sessions WHERE holder = $1)
        DELETE FROM holders WHERE id = $1";
    /// A place is kept as long as its holder's openings are not settled: whoever stands behind it
    /// settles them first.
    SWEEP_PLACES = "
        DELETE FROM leases
        WHERE holder <> $1
          AND NOT EXISTS (SELECT FROM holders WHERE id = holder AND expires_at > now())
          AND NOT EXISTS (SELECT FROM openings WHERE openings.holder = leases.holder)";
    SWEEP = "
        WITH swept AS (
            DELETE FROM holders
            WHERE id <> $1 AND expires_at <= now()
              AND NOT EXISTS (SELECT FROM openings WHERE holder = holders.id)
            RETURNING id
        )
        DELETE FROM sessions USING swept WHERE holder = swept.id";
}
