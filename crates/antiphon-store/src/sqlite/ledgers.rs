//! Implements [`Ledgers`] for [`SqliteStore`].

use antiphon::{HeldItem, ItemId};
use async_trait::async_trait;
use rusqlite::Connection;

use super::writer::Effect;
use super::{SqliteStore, conversations, item_ids, late_binding, ledger_names, responses};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Tenant, ThreadId};
use crate::ledger_records::{Binding, LedgerEntry, LedgerSubject, UpstreamId};
use crate::ledgers::Ledgers;
use crate::records::{Conversation, QueuePlace};

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait]
impl Ledgers for SqliteStore {
    async fn entry(&self, tenant: &Tenant, provider_id: &str) -> Result<Option<LedgerEntry>> {
        let (tenant, name) = (tenant.clone(), provider_id.to_owned());
        self.read(move |db| ledger_names::find(db, &tenant, &name)).await
    }

    async fn upstream_id(
        &self,
        tenant: &Tenant,
        response: &ResponseId,
    ) -> Result<Option<UpstreamId>> {
        let (tenant, subject) = (tenant.clone(), LedgerSubject::Response(response.clone()));
        self.read(move |db| ledger_names::upstream_id(db, &tenant, &subject)).await
    }

    async fn adopt(
        &self,
        tenant: &Tenant,
        named: UpstreamId,
        conversation: Conversation,
        thread: ThreadId,
    ) -> Result<LedgerEntry> {
        let tenant = tenant.clone();
        self.write(Effect::Synced, move |db| adopt(db, &tenant, &named, &conversation, thread))
            .await
    }

    async fn announce(
        &self,
        tenant: &Tenant,
        named: UpstreamId,
        response: &ResponseId,
    ) -> Result<()> {
        let (tenant, subject) = (tenant.clone(), LedgerSubject::Response(response.clone()));
        self.write(Effect::Unsynced, move |db| {
            ledger_names::enter(db, &tenant, &named, &subject, true)
        })
        .await
    }

    async fn mark_stale(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<()> {
        let (tenant, id) = (tenant.clone(), conversation.clone());
        self.write(Effect::Unsynced, move |db| {
            ledger_names::set_stale(db, &tenant, &id, true).map(drop)
        })
        .await
    }

    async fn mark_fresh(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<()> {
        let (tenant, id) = (tenant.clone(), conversation.clone());
        self.write(Effect::Unsynced, move |db| {
            ledger_names::set_stale(db, &tenant, &id, false).map(drop)
        })
        .await
    }

    async fn resync(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        thread: ThreadId,
        items: Vec<HeldItem>,
        _place: Option<QueuePlace>,
    ) -> Result<()> {
        let (tenant, id) = (tenant.clone(), conversation.clone());
        self.write(Effect::Erasing, move |db| resync(db, &tenant, &id, thread, &items)).await
    }

    async fn create_unbound(
        &self,
        tenant: &Tenant,
        conversation: Conversation,
        thread: ThreadId,
        items: Vec<HeldItem>,
    ) -> Result<()> {
        let tenant = tenant.clone();
        self.write(Effect::Synced, move |db| {
            conversations::create(db, &tenant, &conversation, thread, &items)?;
            late_binding::mark(db, &tenant, &conversation.id)
        })
        .await
    }

    async fn binding(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
    ) -> Result<Option<Binding>> {
        let (tenant, id) = (tenant.clone(), conversation.clone());
        self.read(move |db| late_binding::find(db, &tenant, &id)).await
    }

    async fn bind(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        named: UpstreamId,
        thread: ThreadId,
        _place: Option<QueuePlace>,
    ) -> Result<bool> {
        let (tenant, id) = (tenant.clone(), conversation.clone());
        self.write(Effect::Erasing, move |db| late_binding::bind(db, &tenant, &id, &named, thread))
            .await
    }

    async fn bind_locally(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<bool> {
        let (tenant, id) = (tenant.clone(), conversation.clone());
        self.write(Effect::Synced, move |db| late_binding::bind_locally(db, &tenant, &id)).await
    }

    async fn has_any(&self) -> Result<bool> {
        self.read(ledger_names::any).await
    }

    async fn is_ledger(&self, tenant: &Tenant, subject: &LedgerSubject) -> Result<bool> {
        let (tenant, subject) = (tenant.clone(), subject.clone());
        self.read(move |db| ledger_names::is_named(db, &tenant, &subject)).await
    }

    async fn find_generated(&self, tenant: &Tenant, ids: &[ItemId]) -> Result<Vec<ItemId>> {
        let (tenant, ids) = (tenant.clone(), ids.to_vec());
        self.read(move |db| {
            let made =
                |id: &ItemId| Ok(item_ids::is_generated(db, &tenant, id)?.then(|| id.clone()));
            ids.iter().map(made).filter_map(Result::transpose).collect()
        })
        .await
    }

    async fn forget(&self, tenant: &Tenant, provider_id: &str) -> Result<bool> {
        let (tenant, name) = (tenant.clone(), provider_id.to_owned());
        self.write(Effect::Erasing, move |db| ledger_names::forget(db, &tenant, &name)).await
    }

    async fn expire_copies(&self, now: i64, max_bytes: u64) -> Result<usize> {
        self.write(Effect::Erasing, move |db| responses::expire_copies(db, now, max_bytes)).await
    }
}

fn adopt(
    db: &Connection,
    tenant: &Tenant,
    named: &UpstreamId,
    conversation: &Conversation,
    thread: ThreadId,
) -> Result<LedgerEntry> {
    if let Some(entry) = ledger_names::find(db, tenant, &named.id)? {
        return Ok(entry);
    }
    let subject = LedgerSubject::Conversation(conversation.id.clone());
    conversations::create(db, tenant, conversation, thread, &[])?;
    ledger_names::enter(db, tenant, named, &subject, true)?;
    Ok(LedgerEntry { upstream: named.upstream.clone(), subject, is_stale: true })
}

fn resync(
    db: &Connection,
    tenant: &Tenant,
    id: &ConversationId,
    thread: ThreadId,
    items: &[HeldItem],
) -> Result<()> {
    if !ledger_names::set_stale(db, tenant, id, false)? {
        return Err(StoreError::ConversationNotFound);
    }
    conversations::rebase(db, tenant, id, thread, items)
}
