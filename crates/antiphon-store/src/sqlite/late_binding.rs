//! Conversations that began without an upstream. Their first turn binds them.

use rusqlite::{Connection, OptionalExtension, params};

use super::keys::{row_key, shard};
use super::{conversations, ledger_names};
use crate::error::StoreError;
use crate::ids::{ConversationId, Tenant, ThreadId};
use crate::ledger_records::{Binding, LedgerSubject, UpstreamId};

type Result<T> = std::result::Result<T, StoreError>;

/// The local metadata of a conversation whose metadata the provider stores.
const NO_METADATA: &[u8] = b"{}";

/// Marks a new conversation as one without an upstream.
pub(super) fn mark(db: &Connection, tenant: &Tenant, id: &ConversationId) -> Result<()> {
    set(db, tenant, id, true)
}

/// The binding of a conversation. `None` if it began with an upstream, or stays in this store.
pub(super) fn find(
    db: &Connection,
    tenant: &Tenant,
    id: &ConversationId,
) -> Result<Option<Binding>> {
    const SQL: &str = "
        SELECT binds_late FROM conversations WHERE tenant = ?1 AND shard = ?2 AND id = ?3";
    let binds_late: Option<bool> =
        db.prepare_cached(SQL)?.query_row(row_key(tenant, id), |row| row.get(0)).optional()?;
    if binds_late != Some(true) {
        return Ok(None);
    }
    let named = ledger_names::upstream_id(db, tenant, &LedgerSubject::Conversation(id.clone()))?;
    Ok(Some(named.map_or(Binding::Pending, Binding::Bound)))
}

/// Binds a pending conversation. Returns whether it was pending.
pub(super) fn bind(
    db: &Connection,
    tenant: &Tenant,
    id: &ConversationId,
    named: &UpstreamId,
    thread: ThreadId,
) -> Result<bool> {
    if find(db, tenant, id)? != Some(Binding::Pending) {
        return Ok(false);
    }
    conversations::rebase(db, tenant, id, thread, &[])?;
    conversations::set_metadata(db, tenant, id, NO_METADATA)?;
    ledger_names::enter(db, tenant, named, &LedgerSubject::Conversation(id.clone()), true)?;
    Ok(true)
}

/// Keeps a pending conversation in this store. Returns whether it was pending.
pub(super) fn bind_locally(db: &Connection, tenant: &Tenant, id: &ConversationId) -> Result<bool> {
    if find(db, tenant, id)? != Some(Binding::Pending) {
        return Ok(false);
    }
    set(db, tenant, id, false)?;
    Ok(true)
}

fn set(db: &Connection, tenant: &Tenant, id: &ConversationId, binds_late: bool) -> Result<()> {
    const SQL: &str = "
        UPDATE conversations SET binds_late = ?4 WHERE tenant = ?1 AND shard = ?2 AND id = ?3";
    let parameters = params![tenant.as_str(), shard(id.shard()), id.as_str(), binds_late];
    db.prepare_cached(SQL)?.execute(parameters)?;
    Ok(())
}
