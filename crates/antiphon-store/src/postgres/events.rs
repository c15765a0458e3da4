//! The event logs of background responses.

use bytes::Bytes;

use super::failure::Failure;
use super::jobs;
use super::session::Session;
use super::statements::statements;
use crate::background::{
    EXPIRED_AT_ONCE, EventPage, LogState, LoggedEvent, PAGE_BYTES, PAGE_EVENTS,
};
use crate::ids::{ResponseId, Tenant};
use crate::keys::{self, position, row_key, seq_from_column};

type Result<T> = std::result::Result<T, Failure>;

/// Appends events. Skips events whose numbers are already in the log.
pub(super) async fn insert(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
    events: &[LoggedEvent],
) -> Result<()> {
    let (owner, within, id) = row_key(tenant, id);
    let numbers: Vec<i64> = events.iter().map(|event| position(event.sequence_number)).collect();
    let bodies: Vec<&[u8]> = events.iter().map(|event| &*event.body).collect();
    db.execute(&INSERT, &[&owner, &within, &id, &numbers, &bodies]).await.map(drop)
}

/// A page from this number on. `None` if there is no job. The state of the job is read first: if
/// the job has ended, its log is complete.
pub(super) async fn page(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
    from: u64,
    holder: &str,
) -> Result<Option<EventPage>> {
    let Some(state) = jobs::state(db, tenant, id, holder).await? else { return Ok(None) };
    let (owner, within, name) = row_key(tenant, id);
    let most = keys::limit(PAGE_EVENTS);
    let bytes = keys::limit(PAGE_BYTES);
    let given = (position(from), most, bytes);
    let rows = db.rows(&PAGE, &[&owner, &within, &name, &given.0, &given.1, &given.2]).await?;
    let events = rows.iter().map(|row| LoggedEvent {
        sequence_number: seq_from_column(row.get(0)),
        body: Bytes::copy_from_slice(row.get(1)),
    });
    let is_full = rows.last().is_some_and(|row| row.get(2));
    let state = if is_full { LogState::Open } else { state };
    Ok(Some(EventPage { events: events.collect(), state }))
}

/// The latest of the first three events.
pub(super) async fn latest_of_beginning(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Option<Bytes>> {
    let (owner, within, id) = row_key(tenant, id);
    let found = db.row(&LATEST, &[&owner, &within, &id]).await?;
    Ok(found.map(|row| Bytes::copy_from_slice(row.get(0))))
}

/// The number of events, one more than the number of the last.
pub(super) async fn count(db: &Session, tenant: &Tenant, id: &ResponseId) -> Result<u64> {
    let (owner, within, id) = row_key(tenant, id);
    let found = db.row(&COUNT, &[&owner, &within, &id]).await?;
    Ok(found.map_or(0, |row| seq_from_column(row.get(0))))
}

/// Deletes the whole log.
pub(super) async fn remove(db: &Session, tenant: &Tenant, id: &ResponseId) -> Result<()> {
    let (owner, within, id) = row_key(tenant, id);
    db.execute(&REMOVE, &[&owner, &within, &id]).await.map(drop)
}

/// Deletes some of the events. Returns whether there were any.
pub(super) async fn remove_some(db: &Session, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
    let (owner, within, id) = row_key(tenant, id);
    Ok(db.execute(&REMOVE_SOME, &[&owner, &within, &id, &EXPIRED_AT_ONCE]).await? > 0)
}

statements! {
    INSERT = "
        INSERT INTO events (tenant, shard, response, sequence_number, body)
        SELECT $1::text, $2::bigint, $3::text, number, body
        FROM unnest($4::bigint[], $5::bytea[]) AS given (number, body)
        ON CONFLICT DO NOTHING";
    /// Events up to the one that reaches the limit of bytes, and whether more follow.
    PAGE = "
        SELECT sequence_number, body, next IS NOT NULL FROM (
            SELECT sequence_number, body,
                   sum(length(body)) OVER before - length(body) AS begins,
                   row_number() OVER before AS number,
                   lead(sequence_number) OVER before AS next
            FROM (
                SELECT sequence_number, body FROM events
                WHERE tenant = $1 AND shard = $2 AND response = $3 AND sequence_number >= $4
                ORDER BY sequence_number LIMIT $5::bigint + 1
            ) AS ahead
            WINDOW before AS (ORDER BY sequence_number)
        ) AS measured
        WHERE number <= $5::bigint AND begins < $6::bigint
        ORDER BY sequence_number";
    LATEST = "
        SELECT body FROM events
        WHERE tenant = $1 AND shard = $2 AND response = $3 AND sequence_number < 3
        ORDER BY sequence_number DESC LIMIT 1";
    COUNT = "
        SELECT coalesce(max(sequence_number) + 1, 0) FROM events
        WHERE tenant = $1 AND shard = $2 AND response = $3";
    REMOVE = "DELETE FROM events WHERE tenant = $1 AND shard = $2 AND response = $3";
    REMOVE_SOME = "
        DELETE FROM events
        WHERE tenant = $1 AND shard = $2 AND response = $3 AND sequence_number IN (
            SELECT sequence_number FROM events
            WHERE tenant = $1 AND shard = $2 AND response = $3
            ORDER BY sequence_number LIMIT $4)";
}
