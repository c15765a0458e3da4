//! Notices: messages for external endpoints.

use rusqlite::{Connection, Row, params};

use super::keys::{self, row_key, shard};
use super::responses::invalid_id;
use crate::error::StoreError;
use crate::ids::{ResponseId, Tenant};
use crate::records::{ClaimedNotice, Notice, TurnState};

type Result<T> = std::result::Result<T, StoreError>;

/// Stores the notices of a response.
pub(super) fn insert(
    db: &Connection,
    tenant: &Tenant,
    id: &ResponseId,
    notices: &[Notice],
    turn: TurnState,
) -> Result<()> {
    const SQL: &str = "
        INSERT INTO notices (tenant, shard, response, id, endpoint, is_open, due_at, body)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    for notice in notices {
        db.prepare_cached(SQL)?.execute(params![
            tenant.as_str(),
            shard(id.shard()),
            id.as_str(),
            notice.id,
            notice.endpoint,
            turn == TurnState::Open || notice.is_watch(),
            notice.due_at,
            &*notice.body,
        ])?;
    }
    Ok(())
}

/// The notices that were recorded with a pending turn.
pub(super) fn find_open(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<Vec<Notice>> {
    const SQL: &str = "
        SELECT id, endpoint, due_at, body FROM notices
        WHERE tenant = ?1 AND shard = ?2 AND response = ?3 AND is_open";
    let notices = db
        .prepare_cached(SQL)?
        .query_map(row_key(tenant, id), |row| read(row, 0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(notices)
}

/// Deletes the notices that were recorded with a pending turn.
pub(super) fn remove_open(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<()> {
    const SQL: &str = "
        DELETE FROM notices WHERE tenant = ?1 AND shard = ?2 AND response = ?3 AND is_open";
    db.prepare_cached(SQL)?.execute(row_key(tenant, id))?;
    Ok(())
}

/// Whether any notice is due.
pub(super) fn any_due(db: &Connection, now: i64) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM notices WHERE NOT is_open AND due_at <= ?1)";
    Ok(db.prepare_cached(SQL)?.query_row([now], |row| row.get(0))?)
}

/// Claims due notices.
pub(super) fn claim(
    db: &Connection,
    now: i64,
    until: i64,
    limit: usize,
) -> Result<Vec<ClaimedNotice>> {
    const SQL: &str = "
        UPDATE notices SET due_at = ?2, attempts = attempts + 1
        WHERE (tenant, shard, response, id, endpoint) IN (
            SELECT tenant, shard, response, id, endpoint FROM notices
            WHERE NOT is_open AND due_at <= ?1 ORDER BY due_at LIMIT ?3
        )
        RETURNING id, endpoint, due_at, body, tenant, response, attempts";
    let claimed = db
        .prepare_cached(SQL)?
        .query_map(params![now, until, keys::limit(limit)], read_due)?
        .collect::<rusqlite::Result<_>>()?;
    Ok(claimed)
}

/// Settles a claim, unless the notice was claimed again since.
pub(super) fn settle(db: &Connection, claimed: &ClaimedNotice, then: Option<i64>) -> Result<()> {
    const PUT_OFF: &str = "
        UPDATE notices SET due_at = ?7
        WHERE tenant = ?1 AND shard = ?2 AND response = ?3 AND id = ?4 AND endpoint = ?5
          AND attempts = ?6";
    const FORGET: &str = "
        DELETE FROM notices
        WHERE tenant = ?1 AND shard = ?2 AND response = ?3 AND id = ?4 AND endpoint = ?5
          AND attempts = ?6";
    let ClaimedNotice { tenant, response, notice, attempt } = claimed;
    let (tenant, in_shard, response) = row_key(tenant, response);
    let (id, endpoint) = (&notice.id, &notice.endpoint);
    match then {
        Some(then) => db
            .prepare_cached(PUT_OFF)?
            .execute(params![tenant, in_shard, response, id, endpoint, attempt, then])?,
        None => db
            .prepare_cached(FORGET)?
            .execute(params![tenant, in_shard, response, id, endpoint, attempt])?,
    };
    Ok(())
}

/// Reads a row of the columns `id, endpoint, due_at, body, tenant, response, attempts`.
pub(super) fn read_due(row: &Row<'_>) -> rusqlite::Result<ClaimedNotice> {
    Ok(ClaimedNotice {
        notice: read(row, 0)?,
        tenant: Tenant::new(row.get_ref(4)?.as_str()?),
        response: ResponseId::parse(row.get_ref(5)?.as_str()?).ok_or_else(|| invalid_id(5))?,
        attempt: row.get(6)?,
    })
}

fn read(row: &Row<'_>, from: usize) -> rusqlite::Result<Notice> {
    Ok(Notice {
        id: row.get(from)?,
        endpoint: row.get(from + 1)?,
        due_at: row.get(from + 2)?,
        body: row.get::<_, Vec<u8>>(from + 3)?.into(),
    })
}
