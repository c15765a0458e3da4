//! Records of responses.

use antiphon::HeldItem;
use bytes::Bytes;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::keys::{
    self, ThreadKey, position, request_number, response_number, seq_from_column, shard,
    thread_from_column,
};
use super::segments::{self, Entry, entry_columns};
use super::{items, jobs, ledger_names, summaries, sweep};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
use crate::ledger_records::LedgerSubject;
use crate::records::{NewResponse, RequestDigest, ResponseRange, ResponseRecord, Seq, TurnCopy};

type Result<T> = std::result::Result<T, StoreError>;

/// The place of a response in its thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) thread: ThreadId,
    pub(super) entry: Entry,
}

/// The columns of a response, in the order in which [`read_record`] reads them.
macro_rules! record_columns {
    () => {
        "id, conversation, created_at, envelope, report, copy, copy_until,
         thread, segments.first, output_from, segments.end_at"
    };
}

/// The record of a response.
pub(super) fn find(
    db: &Connection,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Option<ResponseRecord>> {
    const SQL: &str = concat!(
        "SELECT ",
        record_columns!(),
        " FROM threads CROSS JOIN segments ON number = segment
        WHERE tenant = ?1 AND shard = ?2 AND response = ?3 AND id = ?4"
    );
    let record = db.prepare_cached(SQL)?.query_row(find_key(tenant, id), read_record).optional()?;
    Ok(record)
}

/// The place of a response.
pub(super) fn place(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<Option<Place>> {
    const SQL: &str = concat!(
        "SELECT ",
        entry_columns!(),
        ", thread FROM threads CROSS JOIN segments ON number = segment
        WHERE tenant = ?1 AND shard = ?2 AND response = ?3 AND id = ?4"
    );
    let place = db
        .prepare_cached(SQL)?
        .query_row(find_key(tenant, id), |row| {
            Ok(Place { entry: Entry::read(row)?, thread: thread_from_column(row.get(5)?) })
        })
        .optional()?;
    Ok(place)
}

/// Whether a segment of this thread, from position `from` on, begins this response.
pub(super) fn is_recorded(
    db: &Connection,
    key: ThreadKey<'_>,
    from: Seq,
    id: &ResponseId,
) -> Result<bool> {
    const SQL: &str = "
        SELECT 1 FROM threads CROSS JOIN segments ON number = segment
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND threads.first >= ?4
          AND response = ?5 AND id = ?6";
    let given = params![
        key.tenant(),
        key.shard(),
        key.thread(),
        position(from),
        response_number(id),
        id.as_str()
    ];
    Ok(db.prepare_cached(SQL)?.exists(given)?)
}

fn find_key<'a>(tenant: &'a Tenant, id: &'a ResponseId) -> (&'a str, i64, i64, &'a str) {
    (tenant.as_str(), shard(id.shard()), response_number(id), id.as_str())
}

/// The records of this request, newest first.
pub(super) fn find_by_request(
    db: &Connection,
    tenant: &Tenant,
    in_shard: Shard,
    request: &RequestDigest,
    limit: usize,
) -> Result<Vec<ResponseRecord>> {
    const SQL: &str = concat!(
        "SELECT ",
        record_columns!(),
        " FROM threads CROSS JOIN segments ON number = segment
        WHERE tenant = ?1 AND shard = ?2 AND threads.request = ?3 AND segments.request = ?4
        ORDER BY created_at DESC, number DESC LIMIT ?5"
    );
    let given = params![
        tenant.as_str(),
        shard(in_shard),
        request_number(request),
        request.0,
        keys::limit(limit)
    ];
    let records =
        db.prepare_cached(SQL)?.query_map(given, read_record)?.collect::<rusqlite::Result<_>>()?;
    Ok(records)
}

/// The responses of a thread that begin at positions in this range, both ends included, in order.
pub(super) fn find_in_thread(
    db: &Connection,
    key: ThreadKey<'_>,
    (from, to): (Seq, Seq),
    limit: usize,
) -> Result<Vec<ResponseRecord>> {
    const SQL: &str = concat!(
        "SELECT ",
        record_columns!(),
        " FROM threads CROSS JOIN segments ON number = segment
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND threads.first BETWEEN ?4 AND ?5
          AND response IS NOT NULL
        ORDER BY threads.first, segment LIMIT ?6"
    );
    let given = params![
        key.tenant(),
        key.shard(),
        key.thread(),
        position(from),
        position(to),
        keys::limit(limit)
    ];
    let records =
        db.prepare_cached(SQL)?.query_map(given, read_record)?.collect::<rusqlite::Result<_>>()?;
    Ok(records)
}

/// The live items of its output.
pub(super) fn output(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<Vec<HeldItem>> {
    match find(db, tenant, id)? {
        Some(record) => {
            let key = ThreadKey::from_cursor(tenant, record.cursor);
            items::range(db, key, &record.output)
        }
        None => Ok(Vec::new()),
    }
}

/// Deletes the record. Returns whether it existed.
pub(super) fn delete(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
    let Some(place) = place(db, tenant, id)? else { return Ok(false) };
    let key = ThreadKey::new(tenant, id.shard(), place.thread);
    remove(db, key, &place.entry)?;
    jobs::remove(db, tenant, id)?;
    ledger_names::unname(db, tenant, &LedgerSubject::Response(id.clone()))?;
    sweep::sweep(db, key)?;
    Ok(true)
}

/// Removes the response that begins with this segment. The items stay.
pub(super) fn remove(db: &Connection, key: ThreadKey<'_>, entry: &Entry) -> Result<()> {
    const CONTENT: &str = "
        UPDATE segments
        SET id = NULL, conversation = NULL, created_at = NULL, output_from = NULL, end_at = NULL,
            request = NULL, copy_until = NULL, envelope = NULL, report = NULL, copy = NULL
        WHERE number = ?1";
    const ENTRY: &str = "
        UPDATE threads SET response = NULL, request = NULL, end_at = NULL
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND first = ?4 AND segment = ?5";
    if entry.held == 0 {
        return segments::delete(db, key, entry);
    }
    let (first, segment) = (position(entry.first), entry.segment);
    db.prepare_cached(CONTENT)?.execute([segment])?;
    let given = params![key.tenant(), key.shard(), key.thread(), first, segment];
    db.prepare_cached(ENTRY)?.execute(given)?;
    Ok(())
}

/// Deletes the oldest responses that were created before this time, at most `limit`. Returns their
/// number.
pub(super) fn expire(db: &Connection, created_before: i64, limit: usize) -> Result<usize> {
    let expired = summaries::oldest(db, created_before, limit)?;
    for (tenant, id) in &expired {
        delete(db, tenant, id)?;
    }
    Ok(expired.len())
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
        UPDATE segments SET copy = NULL, copy_until = NULL
        WHERE number IN (
            SELECT number FROM (
                SELECT number, copy_until,
                       sum(length(copy)) OVER (PARTITION BY owner
                                               ORDER BY copy_until DESC, number DESC) AS bytes
                FROM segments WHERE copy_until IS NOT NULL
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
