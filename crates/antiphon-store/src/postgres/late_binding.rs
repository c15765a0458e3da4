//! Conversations that began without an upstream. Their first turn binds them.

use super::failure::Failure;
use super::session::Session;
use super::statements::statements;
use super::{conversations, ledger_names};
use crate::ids::{ConversationId, Tenant, ThreadId};
use crate::keys::{row_key, shard};
use crate::ledger_records::{Binding, LedgerSubject, UpstreamId};

type Result<T> = std::result::Result<T, Failure>;

/// The local metadata of a conversation whose metadata the provider stores.
const NO_METADATA: &[u8] = b"{}";

/// Marks a new conversation as one without an upstream.
pub(super) async fn mark(db: &Session, tenant: &Tenant, id: &ConversationId) -> Result<()> {
    set(db, tenant, id, true).await
}

/// The binding of a conversation. `None` if it began with an upstream, or stays in this store.
pub(super) async fn find(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
) -> Result<Option<Binding>> {
    let found = db.row(&FIND, &[&tenant.as_str(), &shard(id.shard()), &id.as_str()]).await?;
    if found.is_none() {
        return Ok(None);
    }
    let named =
        ledger_names::upstream_id(db, tenant, &LedgerSubject::Conversation(id.clone())).await?;
    Ok(Some(named.map_or(Binding::Pending, Binding::Bound)))
}

/// Binds a pending conversation. Returns whether it was pending, and the result of
/// [`ledger_names::enter`]. The caller holds the lock of its tree of forks.
pub(super) async fn bind(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    named: &UpstreamId,
    thread: ThreadId,
) -> Result<(bool, Option<LedgerSubject>)> {
    if find(db, tenant, id).await? != Some(Binding::Pending) {
        return Ok((false, None));
    }
    conversations::rebase(db, tenant, id, thread, &[]).await?;
    conversations::set_metadata(db, tenant, id, NO_METADATA).await?;
    let subject = LedgerSubject::Conversation(id.clone());
    Ok((true, ledger_names::enter(db, tenant, named, &subject, true).await?))
}

/// Keeps a pending conversation in this store. Returns whether it was pending. The caller holds the
/// lock of its tree of forks.
pub(super) async fn bind_locally(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
) -> Result<bool> {
    if find(db, tenant, id).await? != Some(Binding::Pending) {
        return Ok(false);
    }
    set(db, tenant, id, false).await?;
    Ok(true)
}

async fn set(db: &Session, tenant: &Tenant, id: &ConversationId, binds_late: bool) -> Result<()> {
    let given = row_key(tenant, id);
    db.execute(&SET, &[&given.0, &given.1, &given.2, &binds_late]).await.map(drop)
}

statements! {
    FIND = "
        SELECT FROM conversations WHERE tenant = $1 AND shard = $2 AND id = $3 AND binds_late";
    SET = "
        UPDATE conversations SET binds_late = $4 WHERE tenant = $1 AND shard = $2 AND id = $3";
}
