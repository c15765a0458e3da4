//! The jobs of background responses.

use futures_util::future;
use tokio_postgres::Row;

use super::failure::Failure;
use super::responses::invalid_id;
use super::session::Session;
use super::statements::statements;
use super::{events, holders, row, sweep, turns};
use crate::background::{ClaimedJob, JobStatus, LogState, LoggedEvent, NewJob};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant};
use crate::keys::{ThreadKey, position, row_key, shard, thread, thread_from_column};
use crate::ledger_records::LedgerSubject;
use crate::records::{Cursor, RequestDigest, TurnRecord};

type Result<T> = std::result::Result<T, Failure>;

pub(super) async fn accept(
    db: &Session,
    tenant: &Tenant,
    job: &NewJob,
    holder: &str,
) -> Result<()> {
    let (owner, within, id) = row_key(tenant, &job.id);
    let request = &job.request.0[..];
    let work = &*job.work;
    let given: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
        [&owner, &within, &id, &holder, &request, &work];
    let (inserted, logged, alive) = future::join3(
        db.execute(&INSERT, &given),
        events::insert(db, tenant, &job.id, &job.events),
        holders::renew_expired(db, holder),
    )
    .await;
    inserted.map(drop).and(logged).and(alive)
}

pub(super) async fn status(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
    holder: &str,
) -> Result<Option<JobStatus>> {
    match state(db, tenant, id, holder).await? {
        None => Ok(None),
        Some(LogState::Ended) => Ok(Some(JobStatus::Ended)),
        Some(state) => match events::latest_of_beginning(db, tenant, id).await? {
            Some(event) => {
                Ok(Some(JobStatus::Open { event, is_unclaimed: state == LogState::Unclaimed }))
            }
            // The job was deleted in between.
            None => Ok(None),
        },
    }
}

/// The processing state of a job, from the view of the process `holder`.
pub(super) async fn state(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
    holder: &str,
) -> Result<Option<LogState>> {
    let (owner, within, id) = row_key(tenant, id);
    let found = db.row(&STATE, &[&owner, &within, &id, &holder]).await?;
    Ok(found.map(|row| LogState::from_columns(row.get(0), row.get(1))))
}

pub(super) async fn open(
    db: &Session,
    tenant: &Tenant,
    in_shard: Shard,
    request: &RequestDigest,
) -> Result<Vec<ResponseId>> {
    let given = (tenant.as_str(), shard(in_shard), &request.0[..]);
    let rows = db.rows(&OPEN, &[&given.0, &given.1, &given.2]).await?;
    rows.iter().map(|row| read_id(row, 0)).collect()
}

/// Appends events to an open job of the process `holder`. Locks the job against a takeover
/// meanwhile.
pub(super) async fn append(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
    logged: &[LoggedEvent],
    holder: &str,
) -> Result<()> {
    let (owner, within, name) = row_key(tenant, id);
    if db.row(&HOLD, &[&owner, &within, &name, &holder]).await?.is_none() {
        return Err(StoreError::LeaseLost.into());
    }
    events::insert(db, tenant, id, logged).await
}

pub(super) async fn cancel(db: &Session, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
    let (owner, within, id) = row_key(tenant, id);
    Ok(db.execute(&CANCEL, &[&owner, &within, &id]).await? > 0)
}

pub(super) async fn cancelled_jobs(
    db: &Session,
    holder: &str,
) -> Result<Vec<(Tenant, ResponseId)>> {
    let rows = db.rows(&CANCELLED, &[&holder]).await?;
    rows.iter().map(read_key).collect()
}

/// Records the point that an open job continues from.
pub(super) async fn set_cursor(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
    cursor: Cursor,
    holder: &str,
) -> Result<()> {
    let (owner, within, id) = row_key(tenant, id);
    let (thread, after) = (thread(cursor.thread), position(cursor.end));
    match db.execute(&REACH, &[&owner, &within, &id, &holder, &thread, &after]).await? {
        0 => Err(StoreError::LeaseLost.into()),
        _ => Ok(()),
    }
}

/// Ends a job, and deletes the items that only the job still reached. Returns the result of
/// [`turns::commit`].
pub(super) async fn end(
    db: &Session,
    tenant: &Tenant,
    turn: &TurnRecord,
    (last, expires_at): (&LoggedEvent, i64),
    holder: &str,
) -> Result<Option<LedgerSubject>> {
    let response = turn.response.as_ref().ok_or_else(StoreError::no_response)?;
    let (owner, within, id) = row_key(tenant, &response.id);
    let ended = db.row(&END, &[&owner, &within, &id, &holder, &expires_at]).await?;
    let reached: Option<i64> = ended.ok_or(StoreError::LeaseLost)?.get(0);
    events::insert(db, tenant, &response.id, std::slice::from_ref(last)).await?;
    let outlived = turns::commit(db, tenant, turn, holder).await?;
    if let Some(reached) = reached {
        let reached = ThreadKey::new(tenant, response.id.shard(), thread_from_column(reached));
        sweep::sweep(db, reached).await?;
    }
    Ok(outlived)
}

pub(super) async fn release(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
    holder: &str,
) -> Result<()> {
    let (owner, within, id) = row_key(tenant, id);
    db.execute(&RELEASE, &[&owner, &within, &id, &holder]).await.map(drop)
}

pub(super) async fn claim_next(db: &Session, holder: &str) -> Result<Option<ClaimedJob>> {
    let Some(row) = db.row(&TAKE_UP, &[&holder]).await? else { return Ok(None) };
    let job = read_left(&row)?;
    let (alive, event_count) =
        future::join(holders::renew_expired(db, holder), events::count(db, &job.tenant, &job.id))
            .await;
    alive?;
    let event_count = event_count?;
    Ok(Some(ClaimedJob { event_count, ..job }))
}

/// Deletes a job and its events.
pub(super) async fn remove(db: &Session, tenant: &Tenant, id: &ResponseId) -> Result<()> {
    let (owner, within, name) = row_key(tenant, id);
    if db.execute(&REMOVE, &[&owner, &within, &name]).await? > 0 {
        events::remove(db, tenant, id).await?;
    }
    Ok(())
}

/// Deletes the ended jobs of a conversation: their events repeat the contents of its items.
pub(super) async fn remove_ended_within(
    db: &Session,
    tenant: &Tenant,
    conversation: &ConversationId,
) -> Result<()> {
    let given = row_key(tenant, conversation);
    for row in db.rows(&ENDED_WITHIN, &[&given.0, &given.1, &given.2]).await? {
        remove(db, tenant, &read_id(&row, 0)?).await?;
    }
    Ok(())
}

/// Deletes events of the job that expired first. Returns whether there was such a job.
pub(super) async fn expire(db: &Session, now: i64) -> Result<bool> {
    let Some(row) = db.row(&EXPIRED, &[&now]).await? else { return Ok(false) };
    let (tenant, id) = read_key(&row)?;
    if !events::remove_some(db, &tenant, &id).await? {
        remove(db, &tenant, &id).await?;
    }
    Ok(true)
}

fn read_key(row: &Row) -> Result<(Tenant, ResponseId)> {
    Ok((Tenant::new(row.get::<_, &str>(0)), read_id(row, 1)?))
}

fn read_id(row: &Row, column: usize) -> Result<ResponseId> {
    ResponseId::parse(row.get(column)).ok_or_else(invalid_id)
}

fn read_left(row: &Row) -> Result<ClaimedJob> {
    let (tenant, id) = read_key(row)?;
    Ok(ClaimedJob {
        tenant,
        id,
        request: RequestDigest(row::sixteen(row.get(2))?),
        work: row.get::<_, Vec<u8>>(3).into(),
        event_count: 0,
        attempt: u32::try_from(row.get::<_, i64>(4)).unwrap_or(u32::MAX),
        is_cancelled: row.get(5),
    })
}

statements! {
    INSERT = "
        INSERT INTO jobs (tenant, shard, id, holder, request, work)
        VALUES ($1, $2, $3, $4, $5, $6)";
    STATE = "
        SELECT expires_at IS NULL,
               holder <> $4 AND NOT EXISTS (
                   SELECT FROM holders WHERE holders.id = holder AND holders.expires_at > now()
               )
        FROM jobs WHERE tenant = $1 AND shard = $2 AND id = $3";
    OPEN = "
        SELECT id FROM jobs
        WHERE tenant = $1 AND shard = $2 AND request = $3 AND expires_at IS NULL
        ORDER BY ordinal DESC LIMIT 2";
    HOLD = "
        SELECT FROM jobs
        WHERE tenant = $1 AND shard = $2 AND id = $3 AND holder = $4 AND expires_at IS NULL
        FOR SHARE";
    CANCEL = "
        UPDATE jobs SET cancelled = true
        WHERE tenant = $1 AND shard = $2 AND id = $3 AND expires_at IS NULL";
    CANCELLED = "
        SELECT tenant, id FROM jobs WHERE holder = $1 AND cancelled AND expires_at IS NULL";
    END = "
        UPDATE jobs SET expires_at = $5, work = NULL
        WHERE tenant = $1 AND shard = $2 AND id = $3 AND holder = $4 AND expires_at IS NULL
        RETURNING thread";
    REACH = "
        UPDATE jobs SET thread = $5, after = $6
        WHERE tenant = $1 AND shard = $2 AND id = $3 AND holder = $4 AND expires_at IS NULL";
    RELEASE = "
        UPDATE jobs SET holder = ''
        WHERE tenant = $1 AND shard = $2 AND id = $3 AND holder = $4 AND expires_at IS NULL";
    TAKE_UP = "
        UPDATE jobs SET holder = $1, times = times + 1
        FROM (
            SELECT tenant, shard, id FROM jobs
            WHERE expires_at IS NULL AND holder <> $1
              AND NOT EXISTS (
                  SELECT FROM holders WHERE holders.id = holder AND holders.expires_at > now()
              )
            ORDER BY ordinal LIMIT 1 FOR UPDATE SKIP LOCKED
        ) AS oldest
        WHERE jobs.tenant = oldest.tenant AND jobs.shard = oldest.shard AND jobs.id = oldest.id
        RETURNING jobs.tenant, jobs.id, request, work, times, cancelled";
    REMOVE = "DELETE FROM jobs WHERE tenant = $1 AND shard = $2 AND id = $3";
    ENDED_WITHIN = "
        SELECT jobs.id FROM jobs JOIN segments USING (tenant, shard, id)
        WHERE tenant = $1 AND shard = $2 AND conversation = $3 AND expires_at IS NOT NULL";
    EXPIRED = "
        SELECT tenant, id FROM jobs WHERE expires_at <= $1
        ORDER BY expires_at LIMIT 1 FOR UPDATE SKIP LOCKED";
}
