//! Finds and retracts turns by the request that they answer.

use futures_util::future;

use super::failure::Failure;
use super::session::Session;
use super::statements::statements;
use super::{conversations, pending_turns, queue_places, responses, segments, sweep, threads};
use crate::error::StoreError;
use crate::ids::{ConversationId, Shard, Tenant, ThreadId};
use crate::keys::{self, ThreadKey, seq_from_column};
use crate::records::{PriorTurn, QueuePlace, RequestDigest, Seq};

type Result<T> = std::result::Result<T, Failure>;

/// The turns of a request: open turns first, then ended ones, both newest first. The query for open
/// turns runs first, so that a turn that ends meanwhile is not missed.
pub(super) async fn turns(
    db: &Session,
    tenant: &Tenant,
    in_shard: Shard,
    request: &RequestDigest,
    limit: usize,
) -> Result<Vec<PriorTurn>> {
    let most = keys::limit(limit);
    let (open, ended) = future::join(
        pending_turns::find_by_request(db, tenant, in_shard, request, most),
        responses::find_by_request(db, tenant, in_shard, request, most),
    )
    .await;
    let (open, mut ended) = (open?, ended?);
    ended.retain(|record| !open.contains(&record.response.id));
    let open = open.into_iter().map(PriorTurn::Open);
    Ok(open.chain(ended.into_iter().map(PriorTurn::Ended)).take(limit).collect())
}

/// Moves the last turn of a conversation to a thread of its own, if it answers this request and no
/// other turn continues from it. Its positions are not reused. Fails if `place` is no longer first
/// in the conversation's queue.
pub(super) async fn retract(
    db: &Session,
    tenant: &Tenant,
    conversation: &ConversationId,
    request: &RequestDigest,
    fork: ThreadId,
    place: Option<&(QueuePlace, String)>,
) -> Result<bool> {
    if let Some((place, holder)) = place {
        queue_places::check(db, tenant, conversation, *place, holder).await?;
    }
    let end = conversations::end(db, tenant, conversation).await?;
    let end = end.ok_or(StoreError::ConversationNotFound)?;
    let key = ThreadKey::from_cursor(tenant, end);
    let Some(from) = last_turn(db, key, request).await? else { return Ok(false) };
    let to = ThreadKey { id: fork, ..key };
    threads::create_fork(db, key, from, to, end.end).await?;
    segments::move_from(db, key, from, to).await?;
    threads::advance(db, key, end.end, None).await?;
    sweep::sweep(db, to).await?;
    Ok(true)
}

/// The start of the thread's last turn, if that turn answers this request and no fork and no
/// pending turn continues from it.
async fn last_turn(
    db: &Session,
    key: ThreadKey<'_>,
    request: &RequestDigest,
) -> Result<Option<Seq>> {
    let given = (key.tenant(), key.shard(), key.thread(), &request.0[..]);
    let found = db.row(&LAST_TURN, &[&given.0, &given.1, &given.2, &given.3]).await?;
    Ok(found.map(|row| seq_from_column(row.get(0))))
}

statements! {
    LAST_TURN = "
        SELECT last_from FROM threads AS last
        WHERE tenant = $1 AND shard = $2 AND thread = $3 AND last_request = $4
          AND NOT EXISTS (SELECT FROM threads
                          WHERE tenant = $1 AND shard = $2 AND parent = $3
                            AND base > last.last_from)
          AND NOT EXISTS (SELECT FROM pending_turns
                          WHERE tenant = $1 AND shard = $2 AND thread = $3
                            AND after > last.last_from)";
}
