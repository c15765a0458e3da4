//! Notices: messages for external endpoints.

use futures_util::future;
use tokio_postgres::Row;

use super::failure::Failure;
use super::responses::invalid_id;
use super::session::Session;
use super::statements::statements;
use crate::ids::{ResponseId, Tenant};
use crate::keys::{self, row_key, shard};
use crate::records::{ClaimedNotice, Notice, TurnState};

type Result<T> = std::result::Result<T, Failure>;

/// Stores the notices of a response.
pub(super) async fn insert(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
    notices: &[Notice],
    turn: TurnState,
) -> Result<()> {
    let inserted = notices.iter().map(|notice| async move {
        db.execute(
            &INSERT,
            &[
                &tenant.as_str(),
                &shard(id.shard()),
                &id.as_str(),
                &notice.id,
                &notice.endpoint,
                &(turn == TurnState::Open || notice.is_watch()),
                &notice.due_at,
                &&*notice.body,
            ],
        )
        .await
    });
    future::try_join_all(inserted).await.map(drop)
}

/// The notices that were recorded with a pending turn.
pub(super) async fn find_open(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Vec<Notice>> {
    let given = row_key(tenant, id);
    let rows = db.rows(&FIND_OPEN, &[&given.0, &given.1, &given.2]).await?;
    Ok(rows.iter().map(read).collect())
}

/// Deletes the notices that were recorded with a pending turn.
pub(super) async fn remove_open(db: &Session, tenant: &Tenant, id: &ResponseId) -> Result<()> {
    let given = row_key(tenant, id);
    db.execute(&REMOVE_OPEN, &[&given.0, &given.1, &given.2]).await.map(drop)
}

/// Whether any notice is due.
pub(super) async fn any_due(db: &Session, now: i64) -> Result<bool> {
    Ok(db.row(&ANY_DUE, &[&now]).await?.is_some())
}

/// Claims due notices.
pub(super) async fn claim(
    db: &Session,
    now: i64,
    until: i64,
    limit: usize,
) -> Result<Vec<ClaimedNotice>> {
    let rows = db.rows(&CLAIM, &[&now, &until, &keys::limit(limit)]).await?;
    rows.iter().map(read_due).collect()
}

/// Settles a claim, unless the notice was claimed again since.
pub(super) async fn settle(db: &Session, claimed: &ClaimedNotice, then: Option<i64>) -> Result<()> {
    let ClaimedNotice { tenant, response, notice, attempt } = claimed;
    let given = row_key(tenant, response);
    let attempt = i32::try_from(*attempt).unwrap_or(i32::MAX);
    let (id, endpoint) = (&notice.id, &notice.endpoint);
    let settled = match then {
        Some(then) => {
            db.execute(&PUT_OFF, &[&given.0, &given.1, &given.2, id, endpoint, &attempt, &then])
                .await
        }
        None => db.execute(&FORGET, &[&given.0, &given.1, &given.2, id, endpoint, &attempt]).await,
    };
    settled.map(drop)
}

/// Reads a row of the columns `id, endpoint, due_at, body, tenant, response, attempts`.
pub(super) fn read_due(row: &Row) -> Result<ClaimedNotice> {
    Ok(ClaimedNotice {
        notice: read(row),
        tenant: Tenant::new(row.get::<_, &str>(4)),
        response: ResponseId::parse(row.get(5)).ok_or_else(invalid_id)?,
        attempt: u32::try_from(row.get::<_, i32>(6)).unwrap_or(u32::MAX),
    })
}

fn read(row: &Row) -> Notice {
    Notice {
        id: row.get(0),
        endpoint: row.get(1),
        due_at: row.get(2),
        body: row.get::<_, Vec<u8>>(3).into(),
    }
}

statements! {
    INSERT = "
        INSERT INTO notices (tenant, shard, response, id, endpoint, is_open, due_at, body)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    FIND_OPEN = "
        SELECT id, endpoint, due_at, body FROM notices
        WHERE tenant = $1 AND shard = $2 AND response = $3 AND is_open";
    REMOVE_OPEN = "
        DELETE FROM notices WHERE tenant = $1 AND shard = $2 AND response = $3 AND is_open";
    ANY_DUE = "SELECT FROM notices WHERE NOT is_open AND due_at <= $1 LIMIT 1";
    /// Across all tenants and trees: the index is ordered by time.
    CLAIM = "
        UPDATE notices SET due_at = $2, attempts = attempts + 1
        WHERE (tenant, shard, response, id, endpoint) IN (
            SELECT tenant, shard, response, id, endpoint FROM notices
            WHERE NOT is_open AND due_at <= $1 ORDER BY due_at LIMIT $3
            FOR UPDATE SKIP LOCKED
        )
        RETURNING id, endpoint, due_at, body, tenant, response, attempts";
    PUT_OFF = "
        UPDATE notices SET due_at = $7
        WHERE tenant = $1 AND shard = $2 AND response = $3 AND id = $4 AND endpoint = $5
          AND attempts = $6";
    FORGET = "
        DELETE FROM notices
        WHERE tenant = $1 AND shard = $2 AND response = $3 AND id = $4 AND endpoint = $5
          AND attempts = $6";
}
