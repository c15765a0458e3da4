//! Implements [`Store`] for [`PostgresStore`].

use antiphon::{HeldItem, ItemId};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::future::BoxFuture;

use super::failure::Failure;
use super::session::Session;
use super::transaction::{Effect, Lock};
use super::{
    PostgresStore, conversations, erasure, expiry, items, jobs, ledger_names, listing,
    named_values, notices, pending_turns, places, requests, responses, settling, turns, usage,
};
use crate::background::{BackgroundJobs, LogState};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
use crate::lease_queue::LeaseQueue;
use crate::ledgers::Ledgers;
use crate::records::{
    ClaimedNotice, Conversation, Cursor, ItemPage, ListScope, PageRequest, PriorTurn, QueuePlace,
    RequestDigest, ResponseRecord, TurnRecord,
};
use crate::snapshot::DataCounts;
use crate::store::Store;
use crate::usage::Usage;
use crate::watches::Watches;

type Result<T> = std::result::Result<T, StoreError>;

/// Runs `$work` in a transaction that holds the lock of the tree of `$shard`. The call runs to its
/// end, even if its caller stops waiting.
macro_rules! write {
    (
        $store:expr, $effect:expr, $tenant:expr, $shard:expr,
        ($($name:ident = $given:expr),*), |$db:ident, $owner:ident| $work:expr
    ) => {{
        let shared = $store.shared.clone();
        let shard = $shard;
        let given = ($tenant.clone(), $($given),*);
        $store
            .call(async move {
                let tree = Lock::Tree(&given.0, shard);
                shared
                    .write($effect, tree, &given, |$db, ($owner, $($name),*)| Box::pin($work))
                    .await
            })
            .await
    }};
}

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
        let shared = self.shared.clone();
        self.call(async move {
            let given = (name, old, new);
            shared
                .write(Effect::Synced, Lock::Nothing, &given, |db, (name, old, new)| {
                    Box::pin(named_values::replace(db, name, old, new))
                })
                .await
        })
        .await
    }

    async fn check_writable(&self) -> Result<()> {
        let shared = self.shared.clone();
        self.call(async move {
            // Every writing transaction increments its commit count, which is the write to check.
            shared
                .write(Effect::Synced, Lock::Nothing, &(), |_, ()| Box::pin(async { Ok(()) }))
                .await
        })
        .await
    }

    fn lease_queue(&self) -> Option<&dyn LeaseQueue> {
        Some(self)
    }

    fn background_jobs(&self) -> &dyn BackgroundJobs {
        self
    }

    fn ledgers(&self) -> &dyn Ledgers {
        self
    }

    fn watches(&self) -> &dyn Watches {
        self
    }

    async fn create_conversation(
        &self,
        tenant: &Tenant,
        conversation: Conversation,
        thread: ThreadId,
        items: Vec<HeldItem>,
    ) -> Result<()> {
        let shard = conversation.id.shard();
        write!(
            self,
            Effect::Synced,
            tenant,
            shard,
            (conversation = conversation, thread = thread, items = items),
            |db, tenant| conversations::create(db, tenant, conversation, *thread, items)
        )
    }

    async fn conversation(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
    ) -> Result<Option<(Conversation, Cursor)>> {
        self.check_open()?;
        self.shared
            .run(&(tenant, id), |db, (tenant, id)| Box::pin(conversations::find(db, tenant, id)))
            .await
    }

    async fn set_metadata(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
        metadata: Bytes,
    ) -> Result<Option<Conversation>> {
        write!(
            self,
            Effect::Synced,
            tenant,
            id.shard(),
            (id = id.clone(), metadata = metadata),
            |db, tenant| conversations::set_metadata(db, tenant, id, metadata)
        )
    }

    async fn delete_conversation(&self, tenant: &Tenant, id: &ConversationId) -> Result<bool> {
        write!(self, Effect::Synced, tenant, id.shard(), (id = id.clone()), |db, tenant| {
            conversations::delete(db, tenant, id)
        })
    }

    async fn append_items(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
        items: Vec<HeldItem>,
    ) -> Result<()> {
        write!(
            self,
            Effect::Synced,
            tenant,
            id.shard(),
            (id = id.clone(), items = items),
            |db, tenant| conversations::append(db, tenant, id, items)
        )
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
        self.check_open()?;
        self.shared
            .run(&(tenant, conversation, id), |db, (tenant, conversation, id)| {
                Box::pin(items::find(db, tenant, conversation, id))
            })
            .await
    }

    async fn delete_item(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        id: &ItemId,
    ) -> Result<bool> {
        write!(
            self,
            Effect::Synced,
            tenant,
            conversation.shard(),
            (conversation = conversation.clone(), id = id.clone()),
            |db, tenant| conversations::erase_item(db, tenant, conversation, id)
        )
    }

    async fn find_prior_turns(
        &self,
        tenant: &Tenant,
        shard: Shard,
        request: &RequestDigest,
        limit: usize,
    ) -> Result<Vec<PriorTurn>> {
        self.check_open()?;
        self.shared
            .run(&(tenant, shard, request, limit), |db, (tenant, shard, request, limit)| {
                Box::pin(requests::turns(db, tenant, *shard, request, *limit))
            })
            .await
    }

    async fn retract(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        request: &RequestDigest,
        fork: ThreadId,
        place: Option<QueuePlace>,
    ) -> Result<bool> {
        write!(
            self,
            Effect::Synced,
            tenant,
            conversation.shard(),
            (
                conversation = conversation.clone(),
                request = *request,
                fork = fork,
                place = place.zip(Some(self.shared.holder.clone()))
            ),
            |db, tenant| requests::retract(
                db,
                tenant,
                conversation,
                request,
                *fork,
                place.as_ref()
            )
        )
    }

    async fn response(&self, tenant: &Tenant, id: &ResponseId) -> Result<Option<ResponseRecord>> {
        self.check_open()?;
        self.shared
            .run(&(tenant, id), |db, (tenant, id)| Box::pin(responses::find(db, tenant, id)))
            .await
    }

    async fn output_items(&self, tenant: &Tenant, id: &ResponseId) -> Result<Vec<HeldItem>> {
        self.check_open()?;
        self.shared
            .run(&(tenant, id), |db, (tenant, id)| Box::pin(items::output(db, tenant, id)))
            .await
    }

    async fn delete_response(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
        write!(self, Effect::Synced, tenant, id.shard(), (id = id.clone()), |db, tenant| {
            responses::delete(db, tenant, id)
        })
    }

    async fn expire_responses(&self, created_before: i64, limit: usize) -> Result<usize> {
        let shared = self.shared.clone();
        self.call(async move { expiry::expire(&shared, created_before, limit).await }).await
    }

    async fn transcript(&self, tenant: &Tenant, cursor: Cursor) -> Result<Vec<HeldItem>> {
        self.check_open()?;
        self.shared
            .run(&(tenant, cursor), |db, (tenant, cursor)| {
                Box::pin(items::transcript(db, tenant, *cursor))
            })
            .await
    }

    async fn locate(&self, tenant: &Tenant, ids: &[ItemId]) -> Result<Vec<HeldItem>> {
        self.check_open()?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.shared
            .run(&(tenant, ids), |db, (tenant, ids)| Box::pin(places::newest(db, tenant, ids)))
            .await
    }

    async fn record_pending_turn(&self, tenant: &Tenant, turn: TurnRecord) -> Result<()> {
        let shard = turn.announced()?.id.shard();
        write!(
            self,
            Effect::Unsynced,
            tenant,
            shard,
            (turn = turn, holder = self.shared.holder.clone()),
            |db, tenant| pending_turns::record(db, tenant, turn, holder)
        )
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
                Some(holder) if holder == shared.holder => return Ok(true),
                Some(_) => {}
            }
            settling::settle_in(&shared, &given.0, given.1.shard()).await?;
            Ok(shared.run(&given, holder).await?.is_some())
        })
        .await
    }

    async fn drop_pending_turn(&self, tenant: &Tenant, id: &ResponseId) -> Result<()> {
        write!(self, Effect::Unsynced, tenant, id.shard(), (id = id.clone()), |db, tenant| {
            pending_turns::discard(db, tenant, id)
        })
    }

    async fn settle_pending_turns(&self) -> Result<usize> {
        let shared = self.shared.clone();
        self.call(async move {
            let settled = settling::settle(&shared).await?;
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
                Box::pin(turns::commit(db, tenant, turn, holder))
            });
            let outlived = work.await?;
            ledger_names::delete_outlived(&shared, &given.0, outlived).await;
            Ok(())
        })
        .await
    }

    async fn usage(&self, tenant: &Tenant) -> Result<Usage> {
        self.check_open()?;
        self.shared.run(tenant, |db, tenant| Box::pin(usage::of_tenant(db, tenant))).await
    }

    async fn conversation_usage(&self, tenant: &Tenant, id: &ConversationId) -> Result<Usage> {
        self.check_open()?;
        self.shared
            .run(&(tenant, id), |db, (tenant, id)| Box::pin(usage::of_conversation(db, tenant, id)))
            .await
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
        let shared = self.shared.clone();
        let given = (now, until, i64::try_from(limit).unwrap_or(i64::MAX));
        self.call(async move {
            if !shared.run(&given, |db, (now, ..)| Box::pin(notices::any_due(db, *now))).await? {
                return Ok(Vec::new());
            }
            shared
                .write(Effect::Unsynced, Lock::Nothing, &given, |db, (now, until, limit)| {
                    Box::pin(notices::claim(db, *now, *until, *limit))
                })
                .await
        })
        .await
    }

    async fn settle_notice(&self, claimed: &ClaimedNotice, then: Option<i64>) -> Result<()> {
        let (shared, given) = (self.shared.clone(), (claimed.clone(), then));
        self.call(async move {
            shared
                .write(Effect::Unsynced, Lock::Nothing, &given, |db, (claimed, then)| {
                    Box::pin(notices::settle(db, claimed, *then))
                })
                .await
        })
        .await
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
