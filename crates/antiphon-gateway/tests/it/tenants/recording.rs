//! A store that remembers what it was asked.

use std::sync::{Arc, Mutex};

use antiphon::{HeldItem, ItemId};
use antiphon_store::{
    BackgroundJobs, ClaimedNotice, Conversation, ConversationId, Cursor, DataCounts, ItemPage,
    LeaseQueue, Ledgers, ListScope, Listings, PageRequest, PriorTurn, QueuePlace, RequestDigest,
    ResponseId, ResponseRecord, Restorer, Shard, Store, StoreError, Tenant, ThreadId, TurnRecord,
    Usage, Watches,
};
use async_trait::async_trait;
use bytes::Bytes;

type Result<T> = std::result::Result<T, StoreError>;

/// A store in front of another, which does the work.
pub(super) struct Recording {
    store: Arc<dyn Store>,
    calls: Mutex<Vec<Call>>,
}

/// One call, by its name, and whose data it named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) tenant: Tenant,
}

impl Recording {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, calls: Mutex::default() }
    }

    /// The calls since this was asked last.
    pub(super) fn take(&self) -> Vec<Call> {
        std::mem::take(&mut *self.calls.lock().expect("no holder of this lock panics"))
    }

    fn record(&self, name: &'static str, tenant: &Tenant) {
        let call = Call { name, tenant: tenant.clone() };
        self.calls.lock().expect("no holder of this lock panics").push(call);
    }
}

/// Calls of a tenant are recorded, then done. The others are done.
macro_rules! recorded {
    ($(fn $name:ident(tenant $(, $argument:ident: $of:ty)*) -> $gives:ty;)*) => {
        #[async_trait]
        impl Store for Recording {
            $(
                async fn $name(&self, tenant: &Tenant $(, $argument: $of)*) -> Result<$gives> {
                    self.record(stringify!($name), tenant);
                    self.store.$name(tenant $(, $argument)*).await
                }
            )*

            async fn value_or_insert(&self, name: &'static str, candidate: Bytes) -> Result<Bytes> {
                self.store.value_or_insert(name, candidate).await
            }

            async fn replace_value(
                &self,
                name: &'static str,
                old: Bytes,
                new: Bytes,
            ) -> Result<bool> {
                self.store.replace_value(name, old, new).await
            }

            async fn check_writable(&self) -> Result<()> {
                self.store.check_writable().await
            }

            fn listings(&self) -> &dyn Listings {
                self.store.listings()
            }

            fn ledgers(&self) -> &dyn Ledgers {
                self.store.ledgers()
            }

            fn background_jobs(&self) -> &dyn BackgroundJobs {
                self.store.background_jobs()
            }

            fn watches(&self) -> &dyn Watches {
                self.store.watches()
            }

            fn restorer(&self) -> &dyn Restorer {
                self.store.restorer()
            }

            fn lease_queue(&self) -> Option<&dyn LeaseQueue> {
                self.store.lease_queue()
            }

            async fn expire_responses(&self, created_before: i64, limit: usize) -> Result<usize> {
                self.store.expire_responses(created_before, limit).await
            }

            async fn settle_pending_turns(&self) -> Result<usize> {
                self.store.settle_pending_turns().await
            }

            async fn claim_notices(
                &self,
                now: i64,
                until: i64,
                limit: usize,
            ) -> Result<Vec<ClaimedNotice>> {
                self.store.claim_notices(now, until, limit).await
            }

            async fn settle_notice(
                &self,
                claimed: &ClaimedNotice,
                then: Option<i64>,
            ) -> Result<()> {
                self.store.settle_notice(claimed, then).await
            }

            async fn close(&self) {
                self.store.close().await;
            }
        }
    };
}

recorded! {
    fn create_conversation(
        tenant, conversation: Conversation, thread: ThreadId, items: Vec<HeldItem>
    ) -> ();
    fn conversation(tenant, id: &ConversationId) -> Option<(Conversation, Cursor)>;
    fn set_metadata(tenant, id: &ConversationId, metadata: Bytes) -> Option<Conversation>;
    fn delete_conversation(tenant, id: &ConversationId) -> bool;
    fn append_items(tenant, id: &ConversationId, items: Vec<HeldItem>) -> ();
    fn list_items(tenant, scope: &ListScope, page: &PageRequest) -> Option<ItemPage>;
    fn item(tenant, conversation: &ConversationId, id: &ItemId) -> Option<HeldItem>;
    fn delete_item(tenant, conversation: &ConversationId, id: &ItemId) -> bool;
    fn shard_of_request(
        tenant, request: &RequestDigest, candidate: Option<Shard>, now: i64
    ) -> Shard;
    fn find_prior_turns(
        tenant, shard: Shard, request: &RequestDigest, limit: usize
    ) -> Vec<PriorTurn>;
    fn retract(
        tenant, conversation: &ConversationId, request: &RequestDigest, fork: ThreadId,
        place: Option<QueuePlace>
    ) -> bool;
    fn response(tenant, id: &ResponseId) -> Option<ResponseRecord>;
    fn output_items(tenant, id: &ResponseId) -> Vec<HeldItem>;
    fn delete_response(tenant, id: &ResponseId) -> bool;
    fn transcript(tenant, cursor: Cursor) -> Vec<HeldItem>;
    fn locate(tenant, ids: &[ItemId]) -> Vec<HeldItem>;
    fn record_pending_turn(tenant, turn: TurnRecord) -> ();
    fn is_open(tenant, id: &ResponseId) -> bool;
    fn drop_pending_turn(tenant, id: &ResponseId) -> ();
    fn commit_turn(tenant, turn: TurnRecord) -> ();
    fn usage(tenant) -> Usage;
    fn conversation_usage(tenant, id: &ConversationId) -> Usage;
    fn erase(tenant, now: i64, limit: usize) -> DataCounts;
}
