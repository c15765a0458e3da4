//! The jobs of background responses.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::keys::{ThreadKey, position, row_key, shard, thread, thread_from_column};
use super::responses::invalid_id;
use super::{events, sweep, turns};
use crate::background::{ClaimedJob, JobStatus, LogState, LoggedEvent, NewJob};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant};
use crate::records::{Cursor, RequestDigest, TurnRecord};

type Result<T> = std::result::Result<T, StoreError>;

pub(super) fn accept(db: &Connection, tenant: &Tenant, job: &NewJob) -> Result<()> {
    const SQL: &str = "
        INSERT INTO jobs (tenant, shard, id, held, request, work) VALUES (?1, ?2, ?3, 1, ?4, ?5)";
    let (owner, within, id) = row_key(tenant, &job.id);
    db.prepare_cached(SQL)?.execute(params![owner, within, id, job.request.0, &*job.work])?;
    events::insert(db, tenant, &job.id, &job.events)
}

/// Releases the jobs of the former process.
pub(super) fn leave_all(db: &Connection) -> Result<()> {
    db.execute("UPDATE jobs SET held = 0 WHERE held", [])?;
    Ok(())
}

pub(super) fn status(
    db: &Connection,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Option<JobStatus>> {
    let state = match state(db, tenant, id)? {
        None => return Ok(None),
        Some(LogState::Ended) => return Ok(Some(JobStatus::Ended)),
        Some(state) => state,
    };
    let event = events::latest_of_beginning(db, tenant, id)?;
    Ok(Some(JobStatus::Open { event, is_unclaimed: state == LogState::Unclaimed }))
}

/// The processing state of a job.
pub(super) fn state(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<Option<LogState>> {
    const SQL: &str = "
        SELECT expires_at IS NULL, NOT held FROM jobs
        WHERE tenant = ?1 AND shard = ?2 AND id = ?3";
    let found = db
        .prepare_cached(SQL)?
        .query_row(row_key(tenant, id), |row| Ok(LogState::from_columns(row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(found)
}

/// Whether a job is open.
pub(super) fn is_open(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
    Ok(state(db, tenant, id)?.is_some_and(|state| state != LogState::Ended))
}

pub(super) fn open(
    db: &Connection,
    tenant: &Tenant,
    in_shard: Shard,
    request: &RequestDigest,
) -> Result<Vec<ResponseId>> {
    const SQL: &str = "
        SELECT id FROM jobs
        WHERE tenant = ?1 AND shard = ?2 AND request = ?3 AND expires_at IS NULL
        ORDER BY ordinal DESC LIMIT 2";
    let ids = db
        .prepare_cached(SQL)?
        .query_map(params![tenant.as_str(), shard(in_shard), request.0], |row| read_id(row, 0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(ids)
}

pub(super) fn append(
    db: &Connection,
    tenant: &Tenant,
    id: &ResponseId,
    events: &[LoggedEvent],
) -> Result<()> {
    match state(db, tenant, id)? {
        Some(LogState::Open) => events::insert(db, tenant, id, events),
        _ => Err(StoreError::LeaseLost),
    }
}

pub(super) fn cancel(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
    const SQL: &str = "
        UPDATE jobs SET cancelled = 1
        WHERE tenant = ?1 AND shard = ?2 AND id = ?3 AND expires_at IS NULL";
    Ok(db.prepare_cached(SQL)?.execute(row_key(tenant, id))? > 0)
}

pub(super) fn cancelled_jobs(db: &Connection) -> Result<Vec<(Tenant, ResponseId)>> {
    const SQL: &str = "SELECT tenant, id FROM jobs WHERE held AND cancelled AND expires_at IS NULL";
    let marked = db
        .prepare_cached(SQL)?
        .query_map([], |row| Ok((Tenant::new(row.get_ref(0)?.as_str()?), read_id(row, 1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(marked)
}

/// Records the point that an open job continues from.
pub(super) fn set_cursor(
    db: &Connection,
    tenant: &Tenant,
    id: &ResponseId,
    cursor: Cursor,
) -> Result<()> {
    const SQL: &str = "
        UPDATE jobs SET thread = ?4, after = ?5
        WHERE tenant = ?1 AND shard = ?2 AND id = ?3 AND held AND expires_at IS NULL";
    let (owner, within, id) = row_key(tenant, id);
    let (thread, after) = (thread(cursor.thread), position(cursor.end));
    match db.prepare_cached(SQL)?.execute(params![owner, within, id, thread, after])? {
        0 => Err(StoreError::LeaseLost),
        _ => Ok(()),
    }
}

/// Ends a job, and deletes the items that only the job still reached.
pub(super) fn end(
    db: &Connection,
    tenant: &Tenant,
    turn: &TurnRecord,
    last: &LoggedEvent,
    expires_at: i64,
) -> Result<()> {
    const SQL: &str = "
        UPDATE jobs SET expires_at = ?4, work = NULL
        WHERE tenant = ?1 AND shard = ?2 AND id = ?3 AND held AND expires_at IS NULL
        RETURNING thread";
    let response = turn.response.as_ref().ok_or_else(StoreError::no_response)?;
    let (owner, within, id) = row_key(tenant, &response.id);
    let reached: Option<Option<i64>> = db
        .prepare_cached(SQL)?
        .query_row(params![owner, within, id, expires_at], |row| row.get(0))
        .optional()?;
    let reached = reached.ok_or(StoreError::LeaseLost)?;
    events::insert(db, tenant, &response.id, std::slice::from_ref(last))?;
    turns::commit(db, tenant, turn)?;
    match reached {
        Some(reached) => sweep::sweep(
            db,
            ThreadKey::new(tenant, response.id.shard(), thread_from_column(reached)),
        ),
        None => Ok(()),
    }
}

pub(super) fn release(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<()> {
    const SQL: &str = "
        UPDATE jobs SET held = 0
        WHERE tenant = ?1 AND shard = ?2 AND id = ?3 AND expires_at IS NULL";
    db.prepare_cached(SQL)?.execute(row_key(tenant, id))?;
    Ok(())
}

pub(super) fn claim_next(db: &Connection) -> Result<Option<ClaimedJob>> {
    const SQL: &str = "
        UPDATE jobs SET held = 1, times = times + 1
        WHERE ordinal = (SELECT min(ordinal) FROM jobs WHERE NOT held AND expires_at IS NULL)
        RETURNING tenant, id, request, work, times, cancelled";
    let taken = db.prepare_cached(SQL)?.query_row([], read_left).optional()?;
    let Some(job) = taken else { return Ok(None) };
    let event_count = events::count(db, &job.tenant, &job.id)?;
    Ok(Some(ClaimedJob { event_count, ..job }))
}

/// Deletes a job and its events.
pub(super) fn remove(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<()> {
    const SQL: &str = "DELETE FROM jobs WHERE tenant = ?1 AND shard = ?2 AND id = ?3";
    if db.prepare_cached(SQL)?.execute(row_key(tenant, id))? > 0 {
        events::remove(db, tenant, id)?;
    }
    Ok(())
}

/// Deletes the ended jobs of a conversation: their events repeat the contents of its items.
pub(super) fn remove_ended_within(
    db: &Connection,
    tenant: &Tenant,
    conversation: &ConversationId,
) -> Result<()> {
    const SQL: &str = "
        SELECT jobs.id FROM jobs
        WHERE tenant = ?1 AND shard = ?2 AND expires_at IS NOT NULL AND EXISTS (
            SELECT 1 FROM threads CROSS JOIN segments ON number = segment
            WHERE tenant = ?1 AND shard = ?2 AND response IS NOT NULL
              AND segments.id = jobs.id AND conversation = ?3
        )";
    let within = shard(conversation.shard());
    let ended: Vec<ResponseId> = db
        .prepare_cached(SQL)?
        .query_map(params![tenant.as_str(), within, conversation.as_str()], |row| read_id(row, 0))?
        .collect::<rusqlite::Result<_>>()?;
    ended.iter().try_for_each(|id| remove(db, tenant, id))
}

/// Deletes events of the job that expired first. Returns whether there was such a job.
pub(super) fn expire(db: &Connection, now: i64) -> Result<bool> {
    const SQL: &str = "
        SELECT tenant, id FROM jobs WHERE expires_at <= ?1 ORDER BY expires_at LIMIT 1";
    let expired = db
        .prepare_cached(SQL)?
        .query_row([now], |row| Ok((Tenant::new(row.get_ref(0)?.as_str()?), read_id(row, 1)?)))
        .optional()?;
    let Some((tenant, id)) = expired else { return Ok(false) };
    if !events::remove_some(db, &tenant, &id)? {
        remove(db, &tenant, &id)?;
    }
    Ok(true)
}

fn read_id(row: &Row<'_>, column: usize) -> rusqlite::Result<ResponseId> {
    ResponseId::parse(row.get_ref(column)?.as_str()?).ok_or_else(|| invalid_id(column))
}

fn read_left(row: &Row<'_>) -> rusqlite::Result<ClaimedJob> {
    Ok(ClaimedJob {
        tenant: Tenant::new(row.get_ref(0)?.as_str()?),
        id: read_id(row, 1)?,
        request: RequestDigest(row.get(2)?),
        work: row.get::<_, Vec<u8>>(3)?.into(),
        event_count: 0,
        attempt: row.get(4)?,
        is_cancelled: row.get(5)?,
    })
}
