//! Records of responses.

use bytes::Bytes;
use futures_util::future;
use tokio_postgres::Row;

use super::failure::Failure;
use super::session::Session;
use super::statements::statements;
use super::{jobs, ledger_names, sweep};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant};
use crate::keys::{
    self, ThreadKey, position, request_number, response_number, seq_from_column, shard,
    thread_from_column,
};
use crate::ledger_records::LedgerSubject;
use crate::records::{NewResponse, RequestDigest, ResponseRange, ResponseRecord, Seq, TurnCopy};

type Result<T> = std::result::Result<T, Failure>;

/// Rejects a response that already has a record: another process settled its turn.
pub(super) async fn check_unrecorded(db: &Session, tenant: &Tenant, id: &ResponseId) -> Result<()> {
    let given = key(tenant, id);
    match db.row(&IS_RECORDED, &[&given.0, &given.1, &given.2, &given.3]).await? {
        Some(_) => Err(StoreError::LeaseLost.into()),
        None => Ok(()),
    }
}

/// The record of a response.
pub(super) async fn find(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Option<ResponseRecord>> {
    let given = key(tenant, id);
    let found = db.row(&FIND, &[&given.0, &given.1, &given.2, &given.3]).await?;
    found.as_ref().map(read_record).transpose()
}

/// The records of this request, newest first.
pub(super) async fn find_by_request(
    db: &Session,
    tenant: &Tenant,
    in_shard: Shard,
    request: &RequestDigest,
    limit: i64,
) -> Result<Vec<ResponseRecord>> {
    let given = (tenant.as_str(), shard(in_shard), request_number(request), &request.0[..]);
    let rows = db.rows(&FIND_BY_REQUEST, &[&given.0, &given.1, &given.2, &given.3, &limit]).await?;
    rows.iter().map(read_record).collect()
}

/// The responses of a thread that begin at positions in this range, both ends included, in order.
pub(super) async fn find_in_thread(
    db: &Session,
    key: ThreadKey<'_>,
    (from, to): (Seq, Seq),
    limit: usize,
) -> Result<Vec<ResponseRecord>> {
    let given = (key.tenant(), key.shard(), key.thread(), position(from), position(to));
    let limit = keys::limit(limit);
    let rows = db
        .rows(&FIND_IN_THREAD, &[&given.0, &given.1, &given.2, &given.3, &given.4, &limit])
        .await?;
    rows.iter().map(read_record).collect()
}

/// The columns that find a response: tenant, shard, response, id.
pub(super) fn key<'a>(tenant: &'a Tenant, id: &'a ResponseId) -> (&'a str, i64, i64, &'a str) {
    (tenant.as_str(), shard(id.shard()), response_number(id), id.as_str())
}

/// Deletes the record. Returns whether it existed.
pub(super) async fn delete(db: &Session, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
    let given = key(tenant, id);
    let deleted = db.row(&DELETE, &[&given.0, &given.1, &given.2, &given.3]).await?;
    let Some(row) = deleted else { return Ok(false) };
    let subject = LedgerSubject::Response(id.clone());
    let (removed, unnamed) =
        future::join(jobs::remove(db, tenant, id), ledger_names::unname(db, tenant, &subject))
            .await;
    removed.and(unnamed)?;
    sweep::sweep(db, ThreadKey::new(tenant, id.shard(), thread_from_column(row.get(0)))).await?;
    Ok(true)
}

/// Reads the recorded fields from a row's first columns: id, conversation, `created_at`, envelope,
/// report, copy, `copy_until`.
pub(super) fn read_new(row: &Row) -> Result<NewResponse> {
    let conversation: Option<&str> = row.get(1);
    Ok(NewResponse {
        id: ResponseId::parse(row.get(0)).ok_or_else(invalid_id)?,
        conversation: conversation
            .map(|id| ConversationId::parse(id).ok_or_else(invalid_id))
            .transpose()?,
        created_at: row.get(2),
        envelope: Bytes::copy_from_slice(row.get(3)),
        report: Bytes::copy_from_slice(row.get(4)),
        copy: TurnCopy::from_columns(
            row.get::<_, Option<&[u8]>>(5).map(Bytes::copy_from_slice),
            row.get(6),
        ),
    })
}

/// Deletes the copies that have expired, and of each tenant the oldest ones beyond `max_bytes` in
/// all. Returns their number.
pub(super) async fn expire_copies(db: &Session, now: i64, max_bytes: u64) -> Result<usize> {
    let max_bytes = i64::try_from(max_bytes).unwrap_or(i64::MAX);
    let expired = db.execute(&EXPIRE_COPIES, &[&now, &max_bytes]).await?;
    Ok(usize::try_from(expired).unwrap_or(usize::MAX))
}

/// The failure of a column that holds something other than an id.
pub(super) fn invalid_id() -> Failure {
    Failure::unreadable("an invalid id")
}

fn read_record(row: &Row) -> Result<ResponseRecord> {
    let [input_from, output_from, end] = [8, 9, 10].map(|column| seq_from_column(row.get(column)));
    let range = ResponseRange { input_from, output_from, end };
    Ok(range.into_record(read_new(row)?, thread_from_column(row.get(7))))
}

statements! {
    IS_RECORDED = "
        SELECT FROM segments WHERE tenant = $1 AND shard = $2 AND response = $3 AND id = $4";
    FIND = "
        SELECT id, conversation, created_at, envelope, report, copy, copy_until,
               thread, first, output_from, end_at
        FROM segments WHERE tenant = $1 AND shard = $2 AND response = $3 AND id = $4";
    FIND_BY_REQUEST = "
        SELECT id, conversation, created_at, envelope, report, copy, copy_until,
               thread, first, output_from, end_at
        FROM segments WHERE tenant = $1 AND shard = $2 AND request = $3 AND digest = $4
        ORDER BY created_at DESC, number DESC LIMIT $5";
    FIND_IN_THREAD = "
        SELECT id, conversation, created_at, envelope, report, copy, copy_until,
               thread, first, output_from, end_at
        FROM segments
        WHERE tenant = $1 AND shard = $2 AND thread = $3 AND first BETWEEN $4 AND $5
          AND id IS NOT NULL
        ORDER BY first, number LIMIT $6";
    EXPIRE_COPIES = "
        UPDATE segments SET copy = NULL, copy_until = NULL
        WHERE (tenant, shard, thread, first, number) IN (
            SELECT tenant, shard, thread, first, number FROM (
                SELECT tenant, shard, thread, first, number, copy_until,
                       sum(length(copy)) OVER (PARTITION BY tenant
                                               ORDER BY copy_until DESC, number DESC) AS bytes
                FROM segments WHERE copy_until IS NOT NULL
            ) copies
            WHERE copy_until <= $1 OR bytes > $2
        )";
    /// The items stay.
    DELETE = "
        WITH emptied AS (
            DELETE FROM segments
            WHERE tenant = $1 AND shard = $2 AND response = $3 AND id = $4 AND held = 0
            RETURNING thread
        ), removed AS (
            UPDATE segments
            SET response = 0, request = 0, id = NULL, conversation = NULL, created_at = NULL,
                output_from = NULL, end_at = NULL, digest = NULL, copy_until = NULL,
                envelope = NULL, report = NULL, copy = NULL
            WHERE tenant = $1 AND shard = $2 AND response = $3 AND id = $4 AND held > 0
            RETURNING thread
        )
        SELECT thread FROM emptied UNION ALL SELECT thread FROM removed";
}
