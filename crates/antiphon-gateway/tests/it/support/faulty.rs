//! A store that can be made to fail as no store can be made from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use antiphon::{HeldItem, ItemId};
use antiphon_store::{
    Background, Conversation, ConversationId, Cursor, DueNotice, Earlier, Holdings, Ledgers,
    Listing, Page, Place, RequestDigest, ResponseId, ResponseRecord, Scope, Shard, SqliteStore,
    Store, StoreError, Tenant, ThreadId, Turn,
};
use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::Semaphore;

type Result<T> = std::result::Result<T, StoreError>;

/// A store in memory.
#[derive(Clone)]
pub(crate) struct Faulty {
    pub(super) inner: Arc<SqliteStore>,
    pub(super) recording: Arc<Semaphore>,
    breaks: Arc<AtomicBool>,
    pub(super) announces_nothing: Arc<AtomicBool>,
    pub(super) doubts_nothing: Arc<AtomicBool>,
}

impl Faulty {
    pub(crate) fn new() -> Self {
        let inner = SqliteStore::in_memory().expect("there is memory");
        let recording = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS));
        Self {
            inner: inner.into(),
            recording,
            breaks: Arc::default(),
            announces_nothing: Arc::default(),
            doubts_nothing: Arc::default(),
        }
    }

    /// Openings and events are recorded only once [`Self::go_on_recording`] says so.
    pub(crate) fn stop_recording(&self) {
        self.recording.forget_permits(Semaphore::MAX_PERMITS);
    }

    pub(crate) fn go_on_recording(&self) {
        self.recording.add_permits(Semaphore::MAX_PERMITS);
    }

    /// The next response that is to be announced in a ledger is not.
    pub(crate) fn announce_nothing_next(&self) {
        self.announces_nothing.store(true, Ordering::SeqCst);
    }

    /// The next conversation that is to be in doubt is not.
    pub(crate) fn doubt_nothing_next(&self) {
        self.doubts_nothing.store(true, Ordering::SeqCst);
    }

    /// Who commits next panics.
    pub(crate) fn break_next_commit(&self) {
        self.breaks.store(true, Ordering::SeqCst);
    }
}

macro_rules! passing_on {
    ($(fn $call:ident($($given:ident: $type:ty),*) -> $answer:ty;)* { $($own:tt)* }) => {
        #[async_trait]
        impl Store for Faulty {
            $(
                async fn $call(&self, $($given: $type),*) -> $answer {
                    self.inner.$call($($given),*).await
                }
            )*
            $($own)*
        }
    };
}

passing_on! {
    fn check_writable() -> Result<()>;
    fn keep(name: &'static str, candidate: Bytes) -> Result<Bytes>;
    fn replace(name: &'static str, old: Bytes, new: Bytes) -> Result<bool>;
    fn create_conversation(
        tenant: &Tenant, conversation: Conversation, thread: ThreadId, items: Vec<HeldItem>
    ) -> Result<()>;
    fn conversation(
        tenant: &Tenant, id: &ConversationId
    ) -> Result<Option<(Conversation, Cursor)>>;
    fn set_metadata(
        tenant: &Tenant, id: &ConversationId, metadata: Bytes
    ) -> Result<Option<Conversation>>;
    fn delete_conversation(tenant: &Tenant, id: &ConversationId) -> Result<bool>;
    fn append_items(tenant: &Tenant, id: &ConversationId, items: Vec<HeldItem>) -> Result<()>;
    fn list_items(tenant: &Tenant, scope: &Scope, page: &Page) -> Result<Option<Listing>>;
    fn item(
        tenant: &Tenant, conversation: &ConversationId, id: &ItemId
    ) -> Result<Option<HeldItem>>;
    fn delete_item(tenant: &Tenant, conversation: &ConversationId, id: &ItemId) -> Result<bool>;
    fn earlier(
        tenant: &Tenant, shard: Shard, request: &RequestDigest, limit: usize
    ) -> Result<Vec<Earlier>>;
    fn take_back(
        tenant: &Tenant, conversation: &ConversationId, request: &RequestDigest, fork: ThreadId,
        place: Option<Place>
    ) -> Result<bool>;
    fn response(tenant: &Tenant, id: &ResponseId) -> Result<Option<ResponseRecord>>;
    fn output_items(tenant: &Tenant, id: &ResponseId) -> Result<Vec<HeldItem>>;
    fn delete_response(tenant: &Tenant, id: &ResponseId) -> Result<bool>;
    fn expire_responses(created_before: i64, limit: usize) -> Result<usize>;
    fn transcript(tenant: &Tenant, cursor: Cursor) -> Result<Vec<HeldItem>>;
    fn locate(tenant: &Tenant, ids: &[ItemId]) -> Result<Vec<HeldItem>>;
    fn is_open(tenant: &Tenant, id: &ResponseId) -> Result<bool>;
    fn drop_opening(tenant: &Tenant, id: &ResponseId) -> Result<()>;
    fn erase(tenant: &Tenant, now: i64, limit: usize) -> Result<Holdings>;
    fn settle_openings() -> Result<usize>;
    fn claim_notices(now: i64, until: i64, limit: usize) -> Result<Vec<DueNotice>>;
    fn settle_notice(claimed: &DueNotice, then: Option<i64>) -> Result<()>;
    fn close() -> ();
    {
        fn ledgers(&self) -> &dyn Ledgers {
            self
        }

        fn background(&self) -> &dyn Background {
            self
        }

        /// A call that was begun is ended, whether or not its caller waits.
        async fn record_opening(&self, tenant: &Tenant, turn: Turn) -> Result<()> {
            let (store, tenant) = (self.clone(), tenant.clone());
            let recording = tokio::spawn(async move {
                let _permit = store.recording.acquire().await.expect("it is never closed");
                store.inner.record_opening(&tenant, turn).await
            });
            recording.await.expect("it does not panic")
        }

        async fn commit_turn(&self, tenant: &Tenant, turn: Turn) -> Result<()> {
            assert!(!self.breaks.swap(false, Ordering::SeqCst), "the commit breaks");
            self.inner.commit_turn(tenant, turn).await
        }
    }
}
