//! Deletes items that nothing reaches any more.

use super::failure::Failure;
use super::session::Session;
use super::statements::statements;
use super::{segments, threads};
use crate::keys::{ThreadKey, seq_from_column};
use crate::records::Seq;

/// Deletes the items of a thread that nothing reaches. If nothing reaches the thread at all,
/// deletes it and continues with its parent, which it may have been the last to reach.
pub(super) async fn sweep(db: &Session, key: ThreadKey<'_>) -> Result<(), Failure> {
    let mut next = Some(key.id);
    while let Some(id) = next {
        let key = ThreadKey { id, ..key };
        let reach = reach(db, key).await?;
        segments::cut(db, key, reach.unwrap_or(0)).await?;
        next = match reach {
            Some(_) => None,
            None => threads::remove(db, key).await?,
        };
    }
    Ok(())
}

/// The position up to which the items of a thread are reachable. A conversation reaches all of
/// them, a response its end, a fork the point at which it left, and a pending turn or an open
/// background job its start.
async fn reach(db: &Session, key: ThreadKey<'_>) -> Result<Option<Seq>, Failure> {
    let found = db.row(&REACH, &[&key.tenant(), &key.shard(), &key.thread()]).await?;
    Ok(found.and_then(|row| row.get::<_, Option<i64>>(0)).map(seq_from_column))
}

statements! {
    REACH = "
        SELECT max(reach) FROM (
            SELECT 9223372036854775807 AS reach FROM conversations
            WHERE tenant = $1 AND shard = $2 AND thread = $3
            UNION ALL
            SELECT max(end_at) FROM segments WHERE tenant = $1 AND shard = $2 AND thread = $3
            UNION ALL
            SELECT max(base) FROM threads WHERE tenant = $1 AND shard = $2 AND parent = $3
            UNION ALL
            SELECT max(after) FROM pending_turns
            WHERE tenant = $1 AND shard = $2 AND thread = $3 AND after IS NOT NULL
            UNION ALL
            SELECT max(after) FROM jobs
            WHERE tenant = $1 AND shard = $2 AND thread = $3 AND after IS NOT NULL
              AND expires_at IS NULL
        ) AS reaches";
}
