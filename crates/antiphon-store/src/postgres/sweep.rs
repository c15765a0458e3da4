//! What nobody reaches any more.

use super::failure::Failure;
use super::session::Session;
use super::statements::statements;
use super::{items, threads};
use crate::keys::{ThreadKey, seq_of};
use crate::records::Seq;

/// Deletes the items of a thread that nobody reaches. A thread that nobody reaches at all goes
/// whole, and its parent, which it may have been the last to reach, is looked at next.
pub(super) async fn sweep(db: &Session, key: ThreadKey<'_>) -> Result<(), Failure> {
    let mut next = Some(key.id);
    while let Some(id) = next {
        let key = ThreadKey { id, ..key };
        let reach = reach(db, key).await?;
        items::cut(db, key, reach.unwrap_or(0)).await?;
        next = match reach {
            Some(_) => None,
            None => threads::remove(db, key).await?,
        };
    }
    Ok(())
}

/// How far into a thread somebody reaches: a live conversation to infinity, a live response to its
/// end, a fork to where it left, a turn that was announced, or is in the background, to where it began.
async fn reach(db: &Session, key: ThreadKey<'_>) -> Result<Option<Seq>, Failure> {
    let found = db.row(&REACH, &[&key.tenant(), &key.shard(), &key.thread()]).await?;
    Ok(found.and_then(|row| row.get::<_, Option<i64>>(0)).map(seq_of))
}

statements! {
    REACH = "
        SELECT max(reach) FROM (
            SELECT 9223372036854775807 AS reach FROM conversations
            WHERE tenant = $1 AND shard = $2 AND thread = $3
            UNION ALL
            SELECT max(end_at) FROM responses WHERE tenant = $1 AND shard = $2 AND thread = $3
            UNION ALL
            SELECT max(base) FROM threads WHERE tenant = $1 AND shard = $2 AND parent = $3
            UNION ALL
            SELECT max(after) FROM openings
            WHERE tenant = $1 AND shard = $2 AND thread = $3 AND after IS NOT NULL
            UNION ALL
            SELECT max(after) FROM jobs
            WHERE tenant = $1 AND shard = $2 AND thread = $3 AND after IS NOT NULL
              AND expires_at IS NULL
        ) AS reaches";
}
