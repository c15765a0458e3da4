//! Records of responses.

use antiphon::HeldItem;
use bytes::Bytes;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::keys::{self, ThreadKey, position, row_key, seq_from_column, shard, thread_from_column};
use super::{items, jobs, ledger_names, sweep};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant};
use crate::ledger_records::LedgerSubject;
use crate::records::{NewResponse, RequestDigest, ResponseRange, ResponseRecord, TurnCopy};

type Result<T> = std::result::Result<T, StoreError>;

/// Stores the record of a response whose items are in the thread.
pub(super) fn insert(
    db: &Connection,
    key: ThreadKey<'_>,
    response: &NewResponse,
    request: Option<&RequestDigest>,
    range: ResponseRange,
) -> Result<()> {
    const SQL: &str = "
        INSERT INTO responses (tenant, shard, id, thread, input_from, output_from, end_at,
                               conversation, created_at, envelope, report, request,
                               copy, copy_until)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
    db.prepare_cached(SQL)?.execute(params![
        key.tenant(),
        key.shard(),
        response.id.as_str(),
        key.thread(),
        position(range.input_from),
        position(range.output_from),
        position(range.end),
        response.conversation.as_ref().map(ConversationId::as_str),
        response.created_at,
        &*response.envelope,
        &*response.report,
        request.map(|request| request.0),
        response.copy.as_ref().map(|copy| &*copy.sealed),
        response.copy.as_ref().map(|copy| copy.expires_at),
    ])?;
    Ok(())
}

/// The record of a response.
pub(super) fn find(
    db: &Connection,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Option<ResponseRecord>> {
    const SQL: &str = "
        SELECT id, conversation, created_at, envelope, report, copy, copy_until,
               thread, input_from, output_from, end_at
        FROM responses WHERE tenant = ?1 AND shard = ?2 AND id = ?3";
    let record = db.prepare_cached(SQL)?.query_row(row_key(tenant, id), read_record).optional()?;
    Ok(record)
}

/// The records of this request, newest first.
pub(super) fn find_by_request(
    db: &Connection,
    tenant: &Tenant,
    in_shard: Shard,
    request: &RequestDigest,
    limit: usize,
) -> Result<Vec<ResponseRecord>> {
    const SQL: &str = "
        SELECT id, conversation, created_at, envelope, report, copy, copy_until,
               thread, input_from, output_from, end_at
        FROM responses WHERE tenant = ?1 AND shard = ?2 AND request = ?3
        ORDER BY created_at DESC, rowid DESC LIMIT ?4";
    let records = db
        .prepare_cached(SQL)?
        .query_map(
            params![tenant.as_str(), shard(in_shard), request.0, keys::limit(limit)],
            read_record,
        )?
        .collect::<rusqlite::Result<_>>()?;
    Ok(records)
}

/// The live items of its output.
pub(super) fn output(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<Vec<HeldItem>> {
    match find(db, tenant, id)? {
        Some(record) => {
            let key = ThreadKey::from_cursor(tenant, record.cursor);
            items::range(db, key, &record.output, usize::MAX)
        }
        None => Ok(Vec::new()),
    }
}

/// Deletes the record. Returns whether it existed.
pub(super) fn delete(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
    const SQL: &str = "
        DELETE FROM responses WHERE tenant = ?1 AND shard = ?2 AND id = ?3
        RETURNING thread";
    let thread: Option<i64> =
        db.prepare_cached(SQL)?.query_row(row_key(tenant, id), |row| row.get(0)).optional()?;
    if let Some(thread) = thread {
        jobs::remove(db, tenant, id)?;
        ledger_names::unname(db, tenant, &LedgerSubject::Response(id.clone()))?;
        sweep::sweep(db, ThreadKey::new(tenant, id.shard(), thread_from_column(thread)))?;
    }
    Ok(thread.is_some())
}

/// Deletes the oldest responses that were created before this time, at most `limit`. Returns their
/// number.
pub(super) fn expire(db: &Connection, created_before: i64, limit: usize) -> Result<usize> {
    let expired = oldest(db, created_before, limit)?;
    for (tenant, id) in &expired {
        delete(db, tenant, id)?;
    }
    Ok(expired.len())
}

fn oldest(db: &Connection, created_before: i64, limit: usize) -> Result<Vec<(Tenant, ResponseId)>> {
    const SQL: &str = "
        SELECT tenant, id FROM responses WHERE created_at < ?1 ORDER BY created_at LIMIT ?2";
    let found = db
        .prepare_cached(SQL)?
        .query_map(params![created_before, keys::limit(limit)], |row| {
            let id = ResponseId::parse(row.get_ref(1)?.as_str()?);
            Ok((Tenant::new(row.get_ref(0)?.as_str()?), id.ok_or_else(|| invalid_id(1))?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(found)
}

/// Reads the recorded fields from a row's first columns: id, conversation, `created_at`, envelope,
/// report, copy, `copy_until`.
pub(super) fn read_new(row: &Row<'_>) -> rusqlite::Result<NewResponse> {
    Ok(NewResponse {
        id: ResponseId::parse(row.get_ref(0)?.as_str()?).ok_or_else(|| invalid_id(0))?,
        conversation: row
            .get_ref(1)?
            .as_str_or_null()?
            .map(|id| ConversationId::parse(id).ok_or_else(|| invalid_id(1)))
            .transpose()?,
        created_at: row.get(2)?,
        envelope: Bytes::from(row.get::<_, Vec<u8>>(3)?),
        report: Bytes::from(row.get::<_, Vec<u8>>(4)?),
        copy: TurnCopy::from_columns(
            row.get::<_, Option<Vec<u8>>>(5)?.map(Bytes::from),
            row.get(6)?,
        ),
    })
}

/// Deletes the copies that have expired, and of each tenant the oldest ones beyond `max_bytes` in
/// all. Returns their number.
pub(super) fn expire_copies(db: &Connection, now: i64, max_bytes: u64) -> Result<usize> {
    const SQL: &str = "
        UPDATE responses SET copy = NULL, copy_until = NULL
        WHERE rowid IN (
            SELECT rowid FROM (
                SELECT rowid, copy_until,
                       sum(length(copy)) OVER (PARTITION BY tenant
                                               ORDER BY copy_until DESC, rowid DESC) AS bytes
                FROM responses WHERE copy_until IS NOT NULL
            )
            WHERE copy_until <= ?1 OR bytes > ?2
        )";
    let max_bytes = i64::try_from(max_bytes).unwrap_or(i64::MAX);
    Ok(db.prepare_cached(SQL)?.execute(params![now, max_bytes])?)
}

/// The error for a column that holds something other than an id.
pub(super) fn invalid_id(column: usize) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, "no id".into())
}

fn read_record(row: &Row<'_>) -> rusqlite::Result<ResponseRecord> {
    let response = read_new(row)?;
    let range = ResponseRange {
        input_from: seq_from_column(row.get(8)?),
        output_from: seq_from_column(row.get(9)?),
        end: seq_from_column(row.get(10)?),
    };
    Ok(range.into_record(response, thread_from_column(row.get(7)?)))
}
