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
use crate::keys::{ThreadKey, position, seq_from_column, shard, thread_from_column};
use crate::ledger_records::LedgerSubject;
use crate::records::{NewResponse, RequestDigest, ResponseRange, ResponseRecord, TurnCopy};

type Result<T> = std::result::Result<T, Failure>;

/// Stores the record of a response whose items are in the thread.
pub(super) async fn insert(
    db: &Session,
    key: ThreadKey<'_>,
    response: &NewResponse,
    request: Option<&RequestDigest>,
    range: ResponseRange,
) -> Result<()> {
    db.execute(
        &INSERT,
        &[
            &key.tenant(),
            &key.shard(),
            &response.id.as_str(),
            &key.thread(),
            &position(range.input_from),
            &position(range.output_from),
            &position(range.end),
            &response.conversation.as_ref().map(ConversationId::as_str),
            &response.created_at,
            &&*response.envelope,
            &&*response.report,
            &request.map(|request| &request.0[..]),
            &response.copy.as_ref().map(|copy| &*copy.sealed),
            &response.copy.as_ref().map(|copy| copy.expires_at),
        ],
    )
    .await
    .map(drop)
}

/// Rejects a response that already has a record: another process settled its turn.
pub(super) async fn check_unrecorded(db: &Session, tenant: &Tenant, id: &ResponseId) -> Result<()> {
    match db.row(&IS_RECORDED, &[&tenant.as_str(), &shard(id.shard()), &id.as_str()]).await? {
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
    let found = db.row(&FIND, &[&tenant.as_str(), &shard(id.shard()), &id.as_str()]).await?;
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
    let given = (tenant.as_str(), shard(in_shard), &request.0[..]);
    let rows = db.rows(&FIND_BY_REQUEST, &[&given.0, &given.1, &given.2, &limit]).await?;
    rows.iter().map(read_record).collect()
}

/// Deletes the record. Returns whether it existed.
pub(super) async fn delete(db: &Session, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
    let deleted = db.row(&DELETE, &[&tenant.as_str(), &shard(id.shard()), &id.as_str()]).await?;
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
    INSERT = "
        INSERT INTO responses (tenant, shard, id, thread, input_from, output_from, end_at,
                               conversation, created_at, envelope, report, request,
                               copy, copy_until)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    IS_RECORDED = "SELECT FROM responses WHERE tenant = $1 AND shard = $2 AND id = $3";
    FIND = "
        SELECT id, conversation, created_at, envelope, report, copy, copy_until,
               thread, input_from, output_from, end_at
        FROM responses WHERE tenant = $1 AND shard = $2 AND id = $3";
    FIND_BY_REQUEST = "
        SELECT id, conversation, created_at, envelope, report, copy, copy_until,
               thread, input_from, output_from, end_at
        FROM responses WHERE tenant = $1 AND shard = $2 AND request = $3
        ORDER BY created_at DESC, ordinal DESC LIMIT $4";
    EXPIRE_COPIES = "
        UPDATE responses SET copy = NULL, copy_until = NULL
        WHERE (tenant, shard, id) IN (
            SELECT tenant, shard, id FROM (
                SELECT tenant, shard, id, copy_until,
                       sum(length(copy)) OVER (PARTITION BY tenant
                                               ORDER BY copy_until DESC, ordinal DESC) AS bytes
                FROM responses WHERE copy_until IS NOT NULL
            ) copies
            WHERE copy_until <= $1 OR bytes > $2
        )";
    DELETE = "
        DELETE FROM responses WHERE tenant = $1 AND shard = $2 AND id = $3
        RETURNING thread";
}
