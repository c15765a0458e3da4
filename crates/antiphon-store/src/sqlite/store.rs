//! Implements [`Store`] for [`SqliteStore`].

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use antiphon::{HeldItem, ItemId};
use async_trait::async_trait;
use bytes::Bytes;

use super::readers::Readers;
use super::writer::Effect;
use super::{
    SqliteStore, conversations, data_counts, erasure, items, jobs, listing, named_values, notices,
    pending_turns, requests, responses, summaries, turns,
};
use crate::background::BackgroundJobs;
use crate::error::StoreError;
use crate::hot_transcripts::{HotTranscripts, ResponseEnd};
use crate::ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
use crate::ledgers::Ledgers;
use crate::listings::Listings;
use crate::observer::{StoreLoad, StoreObserver};
use crate::records::{
    ClaimedNotice, Conversation, Cursor, ItemPage, ListScope, PageRequest, PriorTurn, QueuePlace,
    RequestDigest, ResponseRecord, TurnRecord,
};
use crate::restore::Restorer;
use crate::snapshot::DataCounts;
use crate::store::Store;
use crate::usage::Usage;
use crate::watches::Watches;

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait]
impl Store for SqliteStore {
    async fn value_or_insert(&self, name: &'static str, candidate: Bytes) -> Result<Bytes> {
        let value =
            self.write(Effect::Synced, move |db| named_values::keep(db, name, &candidate)).await?;
        Ok(Bytes::from(value))
    }

    async fn replace_value(&self, name: &'static str, old: Bytes, new: Bytes) -> Result<bool> {
        self.write(Effect::Erasing, move |db| named_values::replace(db, name, &old, &new)).await
    }

    async fn check_writable(&self) -> Result<()> {
        self.write(Effect::Synced, named_values::check_writable).await
    }

    fn set_observer(&self, observer: Arc<dyn StoreObserver>) {
        self.observed.set(observer);
    }

    fn load(&self) -> Option<StoreLoad> {
        let load = self.readers.as_ref().map(Readers::load).unwrap_or_default();
        Some(StoreLoad { waiting_calls: load.waiting_calls + self.writer.waiting(), ..load })
    }

    fn background_jobs(&self) -> &dyn BackgroundJobs {
        self
    }

    fn ledgers(&self) -> &dyn Ledgers {
        self
    }

    fn listings(&self) -> &dyn Listings {
        self
    }

    fn watches(&self) -> &dyn Watches {
        self
    }

    fn hot_transcripts(&self) -> Option<&HotTranscripts> {
        Some(&self.hot)
    }

    fn restorer(&self) -> &dyn Restorer {
        self
    }

    async fn create_conversation(
        &self,
        tenant: &Tenant,
        conversation: Conversation,
        thread: ThreadId,
        items: Vec<HeldItem>,
    ) -> Result<()> {
        let tenant = tenant.clone();
        self.write(Effect::Synced, move |db| {
            conversations::create(db, &tenant, &conversation, thread, &items)
        })
        .await
    }

    async fn conversation(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
    ) -> Result<Option<(Conversation, Cursor)>> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.read(move |db| conversations::find(db, &tenant, &id)).await
    }

    async fn set_metadata(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
        metadata: Bytes,
    ) -> Result<Option<Conversation>> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.write(Effect::Synced, move |db| {
            conversations::set_metadata(db, &tenant, &id, &metadata)
        })
        .await
    }

    async fn delete_conversation(&self, tenant: &Tenant, id: &ConversationId) -> Result<bool> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.write(Effect::Erasing, move |db| conversations::delete(db, &tenant, &id)).await
    }

    async fn append_items(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
        items: Vec<HeldItem>,
    ) -> Result<()> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.write(Effect::Synced, move |db| conversations::append(db, &tenant, &id, &items)).await
    }

    async fn list_items(
        &self,
        tenant: &Tenant,
        scope: &ListScope,
        page: &PageRequest,
    ) -> Result<Option<ItemPage>> {
        let (tenant, scope, page) = (tenant.clone(), scope.clone(), page.clone());
        self.read(move |db| listing::list(db, &tenant, &scope, &page)).await
    }

    async fn item(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        id: &ItemId,
    ) -> Result<Option<HeldItem>> {
        let (tenant, conversation, id) = (tenant.clone(), conversation.clone(), id.clone());
        self.read(move |db| conversations::item(db, &tenant, &conversation, &id)).await
    }

    async fn delete_item(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        id: &ItemId,
    ) -> Result<bool> {
        let (tenant, conversation, id) = (tenant.clone(), conversation.clone(), id.clone());
        self.write(Effect::Erasing, move |db| {
            conversations::erase_item(db, &tenant, &conversation, &id)
        })
        .await
    }

    async fn shard_of_request(
        &self,
        tenant: &Tenant,
        request: &RequestDigest,
        candidate: Option<Shard>,
        now: i64,
    ) -> Result<Shard> {
        let requests = self.requests.get_or_try_init(|| self.load_requests(now)).await?;
        Ok(requests.place(tenant, request, candidate, now))
    }

    async fn find_prior_turns(
        &self,
        tenant: &Tenant,
        shard: Shard,
        request: &RequestDigest,
        limit: usize,
    ) -> Result<Vec<PriorTurn>> {
        let (tenant, request) = (tenant.clone(), *request);
        self.read(move |db| requests::turns(db, &tenant, shard, &request, limit)).await
    }

    async fn retract(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        request: &RequestDigest,
        fork: ThreadId,
        _: Option<QueuePlace>,
    ) -> Result<bool> {
        let (tenant, conversation, request) = (tenant.clone(), conversation.clone(), *request);
        let hot = Arc::clone(&self.hot);
        self.write(Effect::Erasing, move |db| {
            let is_retracted = requests::retract(db, &tenant, &conversation, &request, fork)?;
            if is_retracted {
                // The segments move to another thread, and are themselves unchanged.
                hot.begin_change();
            }
            Ok(is_retracted)
        })
        .await
    }

    async fn response(&self, tenant: &Tenant, id: &ResponseId) -> Result<Option<ResponseRecord>> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.read(move |db| responses::find(db, &tenant, &id)).await
    }

    async fn output_items(&self, tenant: &Tenant, id: &ResponseId) -> Result<Vec<HeldItem>> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.read(move |db| responses::output(db, &tenant, &id)).await
    }

    async fn delete_response(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.write(Effect::Erasing, move |db| responses::delete(db, &tenant, &id)).await
    }

    async fn expire_responses(&self, created_before: i64, limit: usize) -> Result<usize> {
        self.write(Effect::Erasing, move |db| responses::expire(db, created_before, limit)).await
    }

    async fn transcript(&self, tenant: &Tenant, cursor: Cursor) -> Result<Vec<HeldItem>> {
        let tenant = tenant.clone();
        self.read(move |db| items::transcript(db, &tenant, cursor)).await
    }

    async fn locate(&self, tenant: &Tenant, ids: &[ItemId]) -> Result<Vec<HeldItem>> {
        let tenant = tenant.clone();
        let ids: BTreeSet<ItemId> = ids.iter().cloned().collect();
        self.read(move |db| {
            let newest = |id| items::newest(db, &tenant, id).transpose();
            ids.iter().filter_map(newest).collect()
        })
        .await
    }

    async fn record_pending_turn(&self, tenant: &Tenant, turn: TurnRecord) -> Result<()> {
        let tenant = tenant.clone();
        let ordinal = self.ordinals.fetch_add(1, Ordering::Relaxed) + 1;
        self.write(Effect::Unsynced, move |db| pending_turns::record(db, &tenant, &turn, ordinal))
            .await
    }

    async fn is_open(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
        let (tenant, id) = (tenant.clone(), id.clone());
        let found = self.read(move |db| {
            let is_open = jobs::is_open(db, &tenant, &id)?;
            Ok((pending_turns::ordinal(db, &tenant, &id)?, is_open))
        });
        match found.await? {
            (Some(ordinal), _) if ordinal > self.last_left_ordinal => Ok(true),
            (Some(_), _) => self.settle_pending_turns().await.map(|_| false),
            (None, is_open) => Ok(is_open),
        }
    }

    async fn drop_pending_turn(&self, tenant: &Tenant, id: &ResponseId) -> Result<()> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.write(Effect::Unsynced, move |db| pending_turns::discard(db, &tenant, &id)).await
    }

    async fn settle_pending_turns(&self) -> Result<usize> {
        let last_left_ordinal = self.last_left_ordinal;
        self.write(Effect::Synced, move |db| pending_turns::settle(db, last_left_ordinal)).await
    }

    async fn commit_turn(&self, tenant: &Tenant, turn: TurnRecord) -> Result<()> {
        let version = self.hot.version();
        let response = turn.response.as_ref();
        let response = response.map(|it| (it.id.clone(), it.conversation.is_some()));
        let owner = tenant.clone();
        let committing = self.write(Effect::Synced, move |db| turns::commit(db, &owner, &turn));
        let cursor = committing.await?;
        if let Some((id, is_in_conversation)) = response {
            self.hot.note_end(tenant, id, ResponseEnd { cursor, is_in_conversation }, version);
        }
        Ok(())
    }

    async fn usage(&self, tenant: &Tenant) -> Result<Usage> {
        let tenant = tenant.clone();
        self.read(move |db| summaries::usage(db, &tenant)).await
    }

    async fn conversation_usage(&self, tenant: &Tenant, id: &ConversationId) -> Result<Usage> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.read(move |db| data_counts::conversation_usage(db, &tenant, &id)).await
    }

    async fn erase(&self, tenant: &Tenant, _: i64, limit: usize) -> Result<DataCounts> {
        let tenant = tenant.clone();
        self.write(Effect::Erasing, move |db| erasure::erase(db, &tenant, limit)).await
    }

    async fn close_rewritten(&self) -> Result<()> {
        self.shut_rewritten().await
    }

    async fn claim_notices(
        &self,
        now: i64,
        until: i64,
        limit: usize,
    ) -> Result<Vec<ClaimedNotice>> {
        if !self.read(move |db| notices::any_due(db, now)).await? {
            return Ok(Vec::new());
        }
        self.write(Effect::Unsynced, move |db| notices::claim(db, now, until, limit)).await
    }

    async fn settle_notice(&self, claimed: &ClaimedNotice, then: Option<i64>) -> Result<()> {
        let claimed = claimed.clone();
        self.write(Effect::Unsynced, move |db| notices::settle(db, &claimed, then)).await
    }

    async fn close(&self) {
        self.shut().await;
    }
}
