//! Implements [`Watches`] for [`SqliteStore`].

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, params};

use super::keys::{self, shard};
use super::writer::Effect;
use super::{SqliteStore, notices};
use crate::error::StoreError;
use crate::records::{ClaimedNotice, Notice, TurnState};
use crate::store::Store as _;
use crate::watches::Watches;

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait]
impl Watches for SqliteStore {
    async fn claim(&self, now: i64, until: i64, limit: usize) -> Result<Vec<ClaimedNotice>> {
        if !self.read(move |db| Ok(next_due(db)?.is_some_and(|due| due <= now))).await? {
            return Ok(Vec::new());
        }
        self.write(Effect::Unsynced, move |db| claim(db, now, until, limit)).await
    }

    async fn next_due(&self) -> Result<Option<i64>> {
        self.read(next_due).await
    }

    async fn put_off(&self, claimed: &ClaimedNotice, until: i64) -> Result<()> {
        self.settle_notice(claimed, Some(until)).await
    }

    async fn end(&self, claimed: &ClaimedNotice, notices: Vec<Notice>) -> Result<bool> {
        let claimed = claimed.clone();
        self.write(Effect::Synced, move |db| end(db, &claimed, &notices)).await
    }
}

fn next_due(db: &Connection) -> Result<Option<i64>> {
    const SQL: &str = "
        SELECT due_at FROM notices WHERE is_open AND endpoint = 'upstream'
        ORDER BY due_at LIMIT 1";
    Ok(db.prepare_cached(SQL)?.query_row([], |row| row.get(0)).optional()?)
}

fn claim(db: &Connection, now: i64, until: i64, limit: usize) -> Result<Vec<ClaimedNotice>> {
    const SQL: &str = "
        UPDATE notices SET due_at = ?2, attempts = attempts + 1
        WHERE (tenant, shard, response, id, endpoint) IN (
            SELECT tenant, shard, response, id, endpoint FROM notices
            WHERE is_open AND endpoint = 'upstream' AND due_at <= ?1
            ORDER BY due_at LIMIT ?3
        )
        RETURNING id, endpoint, due_at, body, tenant, response, attempts";
    let claimed = db
        .prepare_cached(SQL)?
        .query_map(params![now, until, keys::limit(limit)], notices::read_due)?
        .collect::<rusqlite::Result<_>>()?;
    Ok(claimed)
}

fn end(db: &Connection, claimed: &ClaimedNotice, notices: &[Notice]) -> Result<bool> {
    const SQL: &str = "
        DELETE FROM notices
        WHERE tenant = ?1 AND shard = ?2 AND response = ?3 AND id = ?4 AND endpoint = ?5
          AND attempts = ?6";
    let ClaimedNotice { tenant, response, notice, attempt } = claimed;
    let ended = db.prepare_cached(SQL)?.execute(params![
        tenant.as_str(),
        shard(response.shard()),
        response.as_str(),
        notice.id,
        notice.endpoint,
        attempt,
    ])?;
    if ended == 0 {
        return Ok(false);
    }
    notices::insert(db, tenant, response, notices, TurnState::Ended)?;
    Ok(true)
}
