//! What nobody reaches any more.

use rusqlite::{Connection, params};

use super::keys::{ThreadKey, seq_of};
use super::{items, threads};
use crate::error::StoreError;
use crate::records::Seq;

/// Deletes the items of a thread that nobody reaches. A thread that nobody reaches at all goes
/// whole, and its parent, which it may have been the last to reach, is looked at next.
pub(super) fn sweep(db: &Connection, key: ThreadKey<'_>) -> Result<(), StoreError> {
    let mut next = Some(key.id);
    while let Some(id) = next {
        let key = ThreadKey { id, ..key };
        let reach = reach(db, key)?;
        items::cut(db, key, reach.unwrap_or(0))?;
        next = match reach {
            Some(_) => None,
            None => threads::remove(db, key)?,
        };
    }
    Ok(())
}

/// How far into a thread somebody reaches: a live conversation to infinity, a live response to its
/// end, a fork to where it left, a turn that was announced, or is in the background, to where it began.
fn reach(db: &Connection, key: ThreadKey<'_>) -> Result<Option<Seq>, StoreError> {
    let reach: Option<i64> = db
        .prepare_cached(REACH)?
        .query_row(params![key.tenant(), key.shard(), key.thread()], |row| row.get(0))?;
    Ok(reach.map(seq_of))
}

const REACH: &str = "
    SELECT max(reach) FROM (
        SELECT 0x7fffffffffffffff AS reach FROM conversations
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3
        UNION ALL
        SELECT max(end_at) FROM responses WHERE tenant = ?1 AND shard = ?2 AND thread = ?3
        UNION ALL
        SELECT max(base) FROM threads WHERE tenant = ?1 AND shard = ?2 AND parent = ?3
        UNION ALL
        SELECT max(after) FROM openings
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND after IS NOT NULL
        UNION ALL
        SELECT max(after) FROM jobs
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND after IS NOT NULL
          AND expires_at IS NULL
    )";
