//! Implements [`Ledgers`] for [`SqliteStore`].

use antiphon::{HeldItem, ItemId};
use async_trait::async_trait;
use rusqlite::Connection;

use super::writer::Effect;
use super::{SqliteStore, conversations, items, late_binding, names};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Tenant, ThreadId};
use crate::ledger_records::{Binding, Kept, LedgerEntry, Named};
use crate::ledgers::Ledgers;
use crate::records::{Conversation, Place};

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait]
impl Ledgers for SqliteStore {
    async fn entry(&self, tenant: &Tenant, provider_id: &str) -> Result<Option<LedgerEntry>> {
        let (tenant, name) = (tenant.clone(), provider_id.to_owned());
        self.read(move |db| names::find(db, &tenant, &name)).await
    }

    async fn name_of(&self, tenant: &Tenant, response: &ResponseId) -> Result<Option<Named>> {
        let (tenant, kept) = (tenant.clone(), Kept::Response(response.clone()));
        self.read(move |db| names::name_of(db, &tenant, &kept)).await
    }

    async fn adopt(
        &self,
        tenant: &Tenant,
        named: Named,
        conversation: Conversation,
        thread: ThreadId,
    ) -> Result<LedgerEntry> {
        let tenant = tenant.clone();
        self.write(Effect::Synced, move |db| adopt(db, &tenant, &named, &conversation, thread))
            .await
    }

    async fn announce(&self, tenant: &Tenant, named: Named, response: &ResponseId) -> Result<()> {
        let (tenant, kept) = (tenant.clone(), Kept::Response(response.clone()));
        self.write(Effect::Unsynced, move |db| names::enter(db, &tenant, &named, &kept, true)).await
    }

    async fn mark_stale(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<()> {
        let (tenant, id) = (tenant.clone(), conversation.clone());
        self.write(Effect::Unsynced, move |db| names::set_stale(db, &tenant, &id, true).map(drop))
            .await
    }

    async fn mark_fresh(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<()> {
        let (tenant, id) = (tenant.clone(), conversation.clone());
        self.write(Effect::Unsynced, move |db| names::set_stale(db, &tenant, &id, false).map(drop))
            .await
    }

    async fn relearn(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        thread: ThreadId,
        items: Vec<HeldItem>,
        _place: Option<Place>,
    ) -> Result<()> {
        let (tenant, id) = (tenant.clone(), conversation.clone());
        self.write(Effect::Erasing, move |db| relearn(db, &tenant, &id, thread, &items)).await
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
        named: Named,
        thread: ThreadId,
        _place: Option<Place>,
    ) -> Result<bool> {
        let (tenant, id) = (tenant.clone(), conversation.clone());
        self.write(Effect::Erasing, move |db| late_binding::bind(db, &tenant, &id, &named, thread))
            .await
    }

    async fn keep_here(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<bool> {
        let (tenant, id) = (tenant.clone(), conversation.clone());
        self.write(Effect::Synced, move |db| late_binding::keep_here(db, &tenant, &id)).await
    }

    async fn any(&self) -> Result<bool> {
        self.read(names::any).await
    }

    async fn is_ledger(&self, tenant: &Tenant, kept: &Kept) -> Result<bool> {
        let (tenant, kept) = (tenant.clone(), kept.clone());
        self.read(move |db| names::is_named(db, &tenant, &kept)).await
    }

    async fn made(&self, tenant: &Tenant, ids: &[ItemId]) -> Result<Vec<ItemId>> {
        let (tenant, ids) = (tenant.clone(), ids.to_vec());
        self.read(move |db| {
            let made = |id: &ItemId| Ok(items::is_made(db, &tenant, id)?.then(|| id.clone()));
            ids.iter().map(made).filter_map(Result::transpose).collect()
        })
        .await
    }

    async fn forget(&self, tenant: &Tenant, provider_id: &str) -> Result<bool> {
        let (tenant, name) = (tenant.clone(), provider_id.to_owned());
        self.write(Effect::Erasing, move |db| names::forget(db, &tenant, &name)).await
    }
}

fn adopt(
    db: &Connection,
    tenant: &Tenant,
    named: &Named,
    conversation: &Conversation,
    thread: ThreadId,
) -> Result<LedgerEntry> {
    if let Some(entry) = names::find(db, tenant, &named.id)? {
        return Ok(entry);
    }
    let kept = Kept::Conversation(conversation.id.clone());
    conversations::create(db, tenant, conversation, thread, &[])?;
    names::enter(db, tenant, named, &kept, true)?;
    Ok(LedgerEntry { upstream: named.upstream.clone(), kept, is_stale: true })
}

fn relearn(
    db: &Connection,
    tenant: &Tenant,
    id: &ConversationId,
    thread: ThreadId,
    items: &[HeldItem],
) -> Result<()> {
    if !names::set_stale(db, tenant, id, false)? {
        return Err(StoreError::ConversationNotFound);
    }
    conversations::rebase(db, tenant, id, thread, items)
}
