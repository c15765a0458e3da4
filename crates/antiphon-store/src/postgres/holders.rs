//! The processes that have the store open. The clock of the database decides which are alive.

use super::failure::Failure;
use super::queue_places;
use super::session::Session;
use super::statements::statements;
use crate::records::QueuePlace;

type Result<T> = std::result::Result<T, Failure>;

/// Records a heartbeat of the process `holder`.
pub(super) async fn beat(db: &Session, holder: &str) -> Result<()> {
    db.execute(&BEAT, &[&holder]).await.map(drop)
}

/// Renews the lease of this process if it has expired. Otherwise other processes would treat its
/// new rows as those of a dead process.
pub(super) async fn renew_expired(db: &Session, holder: &str) -> Result<()> {
    db.execute(&RENEW_EXPIRED, &[&holder]).await.map(drop)
}

/// Gives up some of the queue places of `holder`.
pub(super) async fn leave_places(db: &Session, holder: &str, places: &[QueuePlace]) -> Result<()> {
    let places: Vec<i64> = places.iter().map(|place| queue_places::column(*place)).collect();
    db.execute(&LEAVE_PLACES, &[&holder, &places]).await.map(drop)
}

/// Deletes a process, its connections and its queue places.
pub(super) async fn leave(db: &Session, holder: &str) -> Result<()> {
    db.execute(&LEAVE, &[&holder]).await.map(drop)
}

/// Deletes the queue places of dead processes, the processes themselves and their connections.
/// Leaves dead processes that have pending turns. Treats `but` as alive.
pub(super) async fn sweep(db: &Session, but: &str) -> Result<()> {
    db.execute(&SWEEP_PLACES, &[&but]).await?;
    db.execute(&SWEEP, &[&but]).await.map(drop)
}

statements! {
    /// The lease lasts three heartbeats.
    BEAT = "
        INSERT INTO holders (id, expires_at) VALUES ($1, now() + interval '15 seconds')
        ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at";
    RENEW_EXPIRED = "
        INSERT INTO holders (id, expires_at) SELECT $1, now() + interval '15 seconds'
        WHERE NOT EXISTS (SELECT FROM holders WHERE id = $1 AND expires_at > now())
        ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at";
    LEAVE_PLACES = "DELETE FROM leases WHERE holder = $1 AND place = ANY ($2)";
    LEAVE = "
        WITH left_places AS (DELETE FROM leases WHERE holder = $1),
             closed AS (DELETE FROM sessions WHERE holder = $1)
        DELETE FROM holders WHERE id = $1";
    /// A place stays until the pending turns of its holder are settled: the next process in the
    /// queue settles them first.
    SWEEP_PLACES = "
        DELETE FROM leases
        WHERE holder <> $1
          AND NOT EXISTS (SELECT FROM holders WHERE id = holder AND expires_at > now())
          AND NOT EXISTS (SELECT FROM pending_turns WHERE pending_turns.holder = leases.holder)";
    SWEEP = "
        WITH swept AS (
            DELETE FROM holders
            WHERE id <> $1 AND expires_at <= now()
              AND NOT EXISTS (SELECT FROM pending_turns WHERE holder = holders.id)
            RETURNING id
        )
        DELETE FROM sessions USING swept WHERE holder = swept.id";
}
