//! Implements [`Store`] for [`PostgresStore`].

use std::sync::Arc;

use antiphon::{HeldItem, ItemId};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::future::BoxFuture;

use super::calls::{read, transact};
use super::failure::Failure;
use super::session::Session;
use super::transaction::{Effect, Lock};
use super::{
    PostgresStore, conversations, data_counts, erasure, expiry, item_ids, items, jobs,
    ledger_names, listing, named_values, notices, pending_turns, requests, responses, turns,
};
use crate::background::{BackgroundJobs, LogState};
use crate::error::StoreError;
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
use crate::store::{LeaseQueue, Store};
use crate::usage::Usage;
use crate::watches::Watches;

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait]
impl Store for PostgresStore {
    async fn value_or_insert(&self, name: &'static str, candidate: Bytes) -> Result<Bytes> {
        let shared = self.shared.clone();
        self.call(async move {
            let given = (name, candidate);
            shared
                .run(&given, |db, (name, candidate)| {
                    Box::pin(named_values::keep(db, name, candidate))
                })
                .await
        })
        .await
    }

    async fn replace_value(&self, name: &'static str, old: Bytes, new: Bytes) -> Result<bool> {
        transact!(self, Synced, unlocked, (name, old, new), |db| {
            named_values::replace(db, name, old, new)
        })
    }

    /// Each writing transaction increments its commit count, so an empty one suffices.
    async fn check_writable(&self) -> Result<()> {
        transact!(self, Synced, unlocked, (), |_db| async { Ok(()) })
    }

    fn lease_queue(&self) -> Option<&dyn LeaseQueue> {
        Some(self)
    }

    fn set_observer(&self, observer: Arc<dyn StoreObserver>) {
        self.shared.observed.set(observer);
    }

    fn load(&self) -> Option<StoreLoad> {
        Some(self.shared.pool.load())
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
        transact!(
            self,
            Synced,
            tree(tenant, conversation.id.shard()),
            (conversation, thread, items),
            |db| conversations::create(db, tenant, conversation, *thread, items)
        )
    }

    async fn conversation(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
    ) -> Result<Option<(Conversation, Cursor)>> {
        read!(self, (tenant, id), |db| conversations::find(db, tenant, id))
    }

    async fn set_metadata(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
        metadata: Bytes,
    ) -> Result<Option<Conversation>> {
        transact!(self, Synced, tree(tenant, id.shard()), (id = id.clone(), metadata), |db| {
            conversations::set_metadata(db, tenant, id, metadata)
        })
    }

    async fn delete_conversation(&self, tenant: &Tenant, id: &ConversationId) -> Result<bool> {
        transact!(self, Synced, tree(tenant, id.shard()), (id = id.clone()), |db| {
            conversations::delete(db, tenant, id)
        })
    }

    async fn append_items(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
        items: Vec<HeldItem>,
    ) -> Result<()> {
        transact!(self, Synced, tree(tenant, id.shard()), (id = id.clone(), items), |db| {
            conversations::append(db, tenant, id, items)
        })
    }

    async fn list_items(
        &self,
        tenant: &Tenant,
        scope: &ListScope,
        page: &PageRequest,
    ) -> Result<Option<ItemPage>> {
        self.check_open()?;
        self.shared
            .snapshot(&(tenant, scope, page), |db, (tenant, scope, page)| {
                Box::pin(listing::list(db, tenant, scope, page))
            })
            .await
    }

    async fn item(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        id: &ItemId,
    ) -> Result<Option<HeldItem>> {
        read!(self, (tenant, conversation, id), |db| item_ids::find(db, tenant, conversation, id))
    }

    async fn delete_item(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        id: &ItemId,
    ) -> Result<bool> {
        transact!(
            self,
            Synced,
            tree(tenant, conversation.shard()),
            (conversation = conversation.clone(), id = id.clone()),
            |db| conversations::erase_item(db, tenant, conversation, id)
        )
    }

    async fn find_prior_turns(
        &self,
        tenant: &Tenant,
        shard: Shard,
        request: &RequestDigest,
        limit: usize,
    ) -> Result<Vec<PriorTurn>> {
        read!(self, (tenant, shard, request, limit), |db| {
            requests::turns(db, tenant, *shard, request, *limit)
        })
    }

    async fn retract(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        request: &RequestDigest,
        fork: ThreadId,
        place: Option<QueuePlace>,
    ) -> Result<bool> {
        let (id, request, place) = (conversation.clone(), *request, place.zip(Some(self.holder())));
        transact!(self, Synced, tree(tenant, id.shard()), (id, request, fork, place), |db| {
            requests::retract(db, tenant, id, request, *fork, place.as_ref())
        })
    }

    async fn response(&self, tenant: &Tenant, id: &ResponseId) -> Result<Option<ResponseRecord>> {
        read!(self, (tenant, id), |db| responses::find(db, tenant, id))
    }

    async fn output_items(&self, tenant: &Tenant, id: &ResponseId) -> Result<Vec<HeldItem>> {
        read!(self, (tenant, id), |db| items::output(db, tenant, id))
    }

    async fn delete_response(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
        transact!(self, Synced, tree(tenant, id.shard()), (id = id.clone()), |db| {
            responses::delete(db, tenant, id)
        })
    }

    async fn expire_responses(&self, created_before: i64, limit: usize) -> Result<usize> {
        let shared = self.shared.clone();
        self.call(async move { expiry::expire(&shared, created_before, limit).await }).await
    }

    /// In one round trip.
    async fn response_with_transcript(
        &self,
        tenant: &Tenant,
        id: &ResponseId,
    ) -> Result<Option<(ResponseRecord, Vec<HeldItem>)>> {
        read!(self, (tenant, id), |db| items::response_with_transcript(db, tenant, id))
    }

    async fn transcript(&self, tenant: &Tenant, cursor: Cursor) -> Result<Vec<HeldItem>> {
        read!(self, (tenant, cursor), |db| items::transcript(db, tenant, *cursor))
    }

    async fn locate(&self, tenant: &Tenant, ids: &[ItemId]) -> Result<Vec<HeldItem>> {
        if ids.is_empty() {
            self.check_open()?;
            return Ok(Vec::new());
        }
        read!(self, (tenant, ids), |db| item_ids::find_newest(db, tenant, ids))
    }

    async fn record_pending_turn(&self, tenant: &Tenant, turn: TurnRecord) -> Result<()> {
        let (shared, tenant) = (self.shared.clone(), tenant.clone());
        let recording = Box::pin(pending_turns::record(shared, tenant, turn));
        self.call(recording).await
    }

    async fn is_open(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
        let shared = self.shared.clone();
        let given = (tenant.clone(), id.clone(), self.shared.holder.clone());
        self.call(async move {
            match shared.run(&given, holder).await? {
                None => {
                    let job = shared.run(&given, |db, (tenant, id, holder)| {
                        Box::pin(jobs::state(db, tenant, id, holder))
                    });
                    return Ok(job.await?.is_some_and(|state| state != LogState::Ended));
                }
                Some(holder) if holder == shared.holder => {
                    return Ok(shared.own_turns.contains(&given.0, &given.1));
                }
                Some(_) => {}
            }
            pending_turns::settle_in_tree(&shared, &given.0, given.1.shard()).await?;
            Ok(shared.run(&given, holder).await?.is_some())
        })
        .await
    }

    async fn drop_pending_turn(&self, tenant: &Tenant, id: &ResponseId) -> Result<()> {
        // This process may outlive a crash of the server, and would keep a record that came back.
        let dropped: Result<()> =
            transact!(self, Synced, tree(tenant, id.shard()), (id = id.clone()), |db| {
                pending_turns::discard(db, tenant, id)
            });
        dropped.inspect(|()| self.shared.own_turns.remove(tenant, id))
    }

    async fn settle_pending_turns(&self) -> Result<usize> {
        let shared = self.shared.clone();
        self.call(async move {
            let settled = pending_turns::settle(&shared).await?;
            pending_turns::discard_ended(&shared).await?;
            shared
                .run(&shared.holder, |db, holder| Box::pin(super::holders::sweep(db, holder)))
                .await?;
            shared.run(&(), |db, ()| Box::pin(erasure::forget_old(db))).await?;
            Ok(settled)
        })
        .await
    }

    async fn commit_turn(&self, tenant: &Tenant, turn: TurnRecord) -> Result<()> {
        let shared = self.shared.clone();
        let given = (tenant.clone(), turn, shared.holder.clone());
        self.call(async move {
            let tree = Lock::Tree(&given.0, given.1.destination.shard());
            let work = shared.write(Effect::Synced, tree, &given, |db, (tenant, turn, holder)| {
                Box::pin(turns::commit_last(db, tenant, turn, holder))
            });
            let outlived = work.await?;
            if let Some(response) = &given.1.response {
                shared.own_turns.remove(&given.0, &response.id);
            }
            ledger_names::delete_outlived(&shared, &given.0, outlived).await;
            Ok(())
        })
        .await
    }

    async fn usage(&self, tenant: &Tenant) -> Result<Usage> {
        read!(self, (tenant), |db| data_counts::tenant_usage(db, tenant))
    }

    async fn conversation_usage(&self, tenant: &Tenant, id: &ConversationId) -> Result<Usage> {
        read!(self, (tenant, id), |db| data_counts::conversation_usage(db, tenant, id))
    }

    async fn erase(&self, tenant: &Tenant, now: i64, limit: usize) -> Result<DataCounts> {
        let (shared, tenant) = (self.shared.clone(), tenant.clone());
        self.call(async move { erasure::erase(&shared, tenant, now, limit).await }).await
    }

    async fn claim_notices(
        &self,
        now: i64,
        until: i64,
        limit: usize,
    ) -> Result<Vec<ClaimedNotice>> {
        let is_due: Result<bool> = read!(self, (now), |db| notices::any_due(db, *now));
        if !is_due? {
            return Ok(Vec::new());
        }
        transact!(self, Unsynced, unlocked, (now, until, limit), |db| {
            notices::claim(db, *now, *until, *limit)
        })
    }

    async fn settle_notice(&self, claimed: &ClaimedNotice, then: Option<i64>) -> Result<()> {
        transact!(self, Unsynced, unlocked, (claimed = claimed.clone(), then), |db| {
            notices::settle(db, claimed, *then)
        })
    }

    async fn close(&self) {
        self.shut().await;
    }
}

/// The process that recorded a pending turn.
fn holder<'a>(
    db: &'a Session,
    (tenant, id, _): &'a (Tenant, ResponseId, String),
) -> BoxFuture<'a, std::result::Result<Option<String>, Failure>> {
    Box::pin(pending_turns::holder(db, tenant, id))
}
