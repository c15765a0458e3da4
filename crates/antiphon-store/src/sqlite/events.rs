//! The event logs of background responses.

use bytes::Bytes;
use rusqlite::{Connection, params};

use super::jobs;
use super::keys::{position, row_key, seq_from_column};
use crate::background::{
    EXPIRED_AT_ONCE, EventPage, LogState, LoggedEvent, PAGE_BYTES, PAGE_EVENTS,
};
use crate::error::StoreError;
use crate::ids::{ResponseId, Tenant};

type Result<T> = std::result::Result<T, StoreError>;

/// Appends events. Skips events whose numbers are already in the log.
pub(super) fn insert(
    db: &Connection,
    tenant: &Tenant,
    id: &ResponseId,
    events: &[LoggedEvent],
) -> Result<()> {
    const SQL: &str = "
        INSERT INTO events (tenant, shard, response, sequence_number, body)
        VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
    let mut statement = db.prepare_cached(SQL)?;
    let (owner, within, id) = row_key(tenant, id);
    for event in events {
        statement.execute(params![
            owner,
            within,
            id,
            position(event.sequence_number),
            &*event.body
        ])?;
    }
    Ok(())
}

/// A page from this number on. `None` if there is no job. The state of the job is read first: if
/// the job has ended, its log is complete.
pub(super) fn page(
    db: &Connection,
    tenant: &Tenant,
    id: &ResponseId,
    from: u64,
) -> Result<Option<EventPage>> {
    const SQL: &str = "
        SELECT sequence_number, body FROM events
        WHERE tenant = ?1 AND shard = ?2 AND response = ?3 AND sequence_number >= ?4
        ORDER BY sequence_number";
    let Some(state) = jobs::state(db, tenant, id)? else { return Ok(None) };
    let (owner, within, id) = row_key(tenant, id);
    let mut statement = db.prepare_cached(SQL)?;
    let mut rows = statement.query(params![owner, within, id, position(from)])?;
    let (mut events, mut bytes) = (Vec::new(), 0);
    while events.len() < PAGE_EVENTS && bytes < PAGE_BYTES {
        let Some(row) = rows.next()? else {
            return Ok(Some(EventPage { events, state }));
        };
        let body = Bytes::from(row.get::<_, Vec<u8>>(1)?);
        bytes += body.len();
        events.push(LoggedEvent { sequence_number: seq_from_column(row.get(0)?), body });
    }
    Ok(Some(EventPage { events, state: LogState::Open }))
}

/// The latest of the first three events.
pub(super) fn latest_of_beginning(
    db: &Connection,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Bytes> {
    const SQL: &str = "
        SELECT body FROM events
        WHERE tenant = ?1 AND shard = ?2 AND response = ?3 AND sequence_number < 3
        ORDER BY sequence_number DESC LIMIT 1";
    let body: Vec<u8> = db.prepare_cached(SQL)?.query_row(row_key(tenant, id), |row| row.get(0))?;
    Ok(body.into())
}

/// The number of events, one more than the number of the last.
pub(super) fn count(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<u64> {
    const SQL: &str = "
        SELECT coalesce(max(sequence_number) + 1, 0) FROM events
        WHERE tenant = ?1 AND shard = ?2 AND response = ?3";
    let count = db.prepare_cached(SQL)?.query_row(row_key(tenant, id), |row| row.get(0))?;
    Ok(seq_from_column(count))
}

/// Deletes the whole log.
pub(super) fn remove(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<()> {
    const SQL: &str = "DELETE FROM events WHERE tenant = ?1 AND shard = ?2 AND response = ?3";
    db.prepare_cached(SQL)?.execute(row_key(tenant, id))?;
    Ok(())
}

/// Deletes some of the events. Returns whether there were any.
pub(super) fn remove_some(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
    const SQL: &str = "
        DELETE FROM events
        WHERE tenant = ?1 AND shard = ?2 AND response = ?3 AND sequence_number IN (
            SELECT sequence_number FROM events
            WHERE tenant = ?1 AND shard = ?2 AND response = ?3
            ORDER BY sequence_number LIMIT ?4)";
    let (owner, within, id) = row_key(tenant, id);
    Ok(db.prepare_cached(SQL)?.execute(params![owner, within, id, EXPIRED_AT_ONCE])? > 0)
}
