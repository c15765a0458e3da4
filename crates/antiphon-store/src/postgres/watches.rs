//! Implements [`Watches`] for [`PostgresStore`].

use async_trait::async_trait;

use super::calls::{read, transact};
use super::failure::Failure;
use super::session::Session;
use super::statements::statements;
use super::transaction::{Effect, Lock};
use super::{PostgresStore, notices};
use crate::error::StoreError;
use crate::keys::{self, row_key};
use crate::records::{ClaimedNotice, Notice, TurnState};
use crate::store::Store as _;
use crate::watches::Watches;

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait]
impl Watches for PostgresStore {
    async fn claim(&self, now: i64, until: i64, limit: usize) -> Result<Vec<ClaimedNotice>> {
        let due = self.next_due().await?;
        if due.is_none_or(|due| due > now) {
            return Ok(Vec::new());
        }
        transact!(self, Unsynced, unlocked, (now, until, limit), |db| {
            claim(db, *now, *until, *limit)
        })
    }

    async fn next_due(&self) -> Result<Option<i64>> {
        read!(self, (), |db| next_due(db))
    }

    async fn put_off(&self, claimed: &ClaimedNotice, until: i64) -> Result<()> {
        self.settle_notice(claimed, Some(until)).await
    }

    async fn end(&self, claimed: &ClaimedNotice, notices: Vec<Notice>) -> Result<bool> {
        transact!(self, Synced, unlocked, (claimed = claimed.clone(), notices), |db| {
            end(db, claimed, notices)
        })
    }
}

async fn next_due(db: &Session) -> std::result::Result<Option<i64>, Failure> {
    Ok(db.row(&NEXT_DUE, &[]).await?.map(|row| row.get(0)))
}

async fn claim(
    db: &Session,
    now: i64,
    until: i64,
    limit: usize,
) -> std::result::Result<Vec<ClaimedNotice>, Failure> {
    let rows = db.rows(&CLAIM, &[&now, &until, &keys::limit(limit)]).await?;
    rows.iter().map(notices::read_due).collect()
}

async fn end(
    db: &Session,
    claimed: &ClaimedNotice,
    notices: &[Notice],
) -> std::result::Result<bool, Failure> {
    let ClaimedNotice { tenant, response, notice, attempt } = claimed;
    let given = row_key(tenant, response);
    let attempt = i32::try_from(*attempt).unwrap_or(i32::MAX);
    let (id, endpoint) = (&notice.id, &notice.endpoint);
    let ended = db.execute(&END, &[&given.0, &given.1, &given.2, id, endpoint, &attempt]).await?;
    if ended == 0 {
        return Ok(false);
    }
    notices::insert(db, tenant, response, notices, TurnState::Ended).await?;
    Ok(true)
}

statements! {
    NEXT_DUE = "
        SELECT due_at FROM notices WHERE is_open AND endpoint = 'upstream'
        ORDER BY due_at LIMIT 1";
    /// Across all tenants and trees: the index is ordered by time.
    CLAIM = "
        UPDATE notices SET due_at = $2, attempts = attempts + 1
        WHERE (tenant, shard, response, id, endpoint) IN (
            SELECT tenant, shard, response, id, endpoint FROM notices
            WHERE is_open AND endpoint = 'upstream' AND due_at <= $1
            ORDER BY due_at LIMIT $3
            FOR UPDATE SKIP LOCKED
        )
        RETURNING id, endpoint, due_at, body, tenant, response, attempts";
    END = "
        DELETE FROM notices
        WHERE tenant = $1 AND shard = $2 AND response = $3 AND id = $4 AND endpoint = $5
          AND attempts = $6";
}
