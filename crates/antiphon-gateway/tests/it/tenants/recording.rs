//! A store that remembers what it was asked.

use std::sync::{Arc, Mutex};

use antiphon::{HeldItem, ItemId};
use antiphon_store::{
    Background, Conversation, ConversationId, Cursor, DueNotice, Earlier, Holdings, Ledgers, Line,
    Listing, Page, Place, RequestDigest, ResponseId, ResponseRecord, Scope, Shard, Store,
    StoreError, Tenant, ThreadId, Turn, Usage, Watches,
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
    pub(super) fn of(store: Arc<dyn Store>) -> Self {
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

            async fn keep(&self, name: &'static str, candidate: Bytes) -> Result<Bytes> {
                self.store.keep(name, candidate).await
            }

            async fn replace(&self, name: &'static str, old: Bytes, new: Bytes) -> Result<bool> {
                self.store.replace(name, old, new).await
            }

            async fn check_writable(&self) -> Result<()> {
                self.store.check_writable().await
            }

            fn ledgers(&self) -> &dyn Ledgers {
                self.store.ledgers()
            }

            fn background(&self) -> &dyn Background {
                self.store.background()
            }

            fn watches(&self) -> &dyn Watches {
                self.store.watches()
            }

            fn line(&self) -> Option<&dyn Line> {
                self.store.line()
            }

            async fn expire_responses(&self, created_before: i64, limit: usize) -> Result<usize> {
                self.store.expire_responses(created_before, limit).await
            }

            async fn settle_openings(&self) -> Result<usize> {
                self.store.settle_openings().await
            }

            async fn claim_notices(
                &self,
                now: i64,
                until: i64,
                limit: usize,
            ) -> Result<Vec<DueNotice>> {
                self.store.claim_notices(now, until, limit).await
            }

            async fn settle_notice(&self, claimed: &DueNotice, then: Option<i64>) -> Result<()> {
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
    fn list_items(tenant, scope: &Scope, page: &Page) -> Option<Listing>;
    fn item(tenant, conversation: &ConversationId, id: &ItemId) -> Option<HeldItem>;
    fn delete_item(tenant, conversation: &ConversationId, id: &ItemId) -> bool;
    fn earlier(tenant, shard: Shard, request: &RequestDigest, limit: usize) -> Vec<Earlier>;
    fn retract(
        tenant, conversation: &ConversationId, request: &RequestDigest, fork: ThreadId,
        place: Option<Place>
    ) -> bool;
    fn response(tenant, id: &ResponseId) -> Option<ResponseRecord>;
    fn output_items(tenant, id: &ResponseId) -> Vec<HeldItem>;
    fn delete_response(tenant, id: &ResponseId) -> bool;
    fn transcript(tenant, cursor: Cursor) -> Vec<HeldItem>;
    fn locate(tenant, ids: &[ItemId]) -> Vec<HeldItem>;
    fn record_opening(tenant, turn: Turn) -> ();
    fn is_open(tenant, id: &ResponseId) -> bool;
    fn drop_opening(tenant, id: &ResponseId) -> ();
    fn commit_turn(tenant, turn: Turn) -> ();
    fn usage(tenant) -> Usage;
    fn conversation_usage(tenant, id: &ConversationId) -> Usage;
    fn erase(tenant, now: i64, limit: usize) -> Holdings;
}
