//! Deletes items that nothing reaches any more.

use rusqlite::{Connection, params};

use super::keys::{ThreadKey, seq_from_column};
use super::{pending_turns, segments, threads};
use crate::error::StoreError;
use crate::records::Seq;

/// Deletes the items of a thread that nothing reaches. If nothing reaches the thread at all,
/// deletes it and continues with its parent, which it may have been the last to reach.
pub(super) fn sweep(db: &Connection, key: ThreadKey<'_>) -> Result<(), StoreError> {
    let mut next = Some(key.id);
    while let Some(id) = next {
        let key = ThreadKey { id, ..key };
        let reach = reach(db, key)?;
        segments::cut(db, key, reach.unwrap_or(0))?;
        next = match reach {
            Some(_) => None,
            None => threads::remove(db, key)?,
        };
    }
    Ok(())
}

/// The position up to which the items of a thread are reachable. A conversation reaches all of
/// them, a response its end, a fork the point at which it left, and a pending turn or an open
/// background job its start.
fn reach(db: &Connection, key: ThreadKey<'_>) -> Result<Option<Seq>, StoreError> {
    let (first, last) = pending_turns::places(key.in_shard);
    let given = params![key.tenant(), key.shard(), key.thread(), first, last];
    let reach: Option<i64> = db.prepare_cached(REACH)?.query_row(given, |row| row.get(0))?;
    Ok(reach.map(seq_from_column))
}

const REACH: &str = "
    SELECT max(reach) FROM (
        SELECT 0x7fffffffffffffff AS reach FROM conversations
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3
        UNION ALL
        SELECT max(end_at) FROM threads WHERE tenant = ?1 AND shard = ?2 AND thread = ?3
        UNION ALL
        SELECT max(base) FROM threads WHERE tenant = ?1 AND shard = ?2 AND parent = ?3
        UNION ALL
        SELECT max(after) FROM pending_turns
        WHERE place BETWEEN ?4 AND ?5 AND tenant = ?1 AND shard = ?2 AND thread = ?3
        UNION ALL
        SELECT max(after) FROM jobs
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND after IS NOT NULL
          AND expires_at IS NULL
    )";
