//! A store that can be made to fail as no store can be made from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use antiphon::{HeldItem, ItemId};
use antiphon_store::{
    BackgroundJobs, ClaimedNotice, Conversation, ConversationId, Cursor, DataCounts, ItemPage,
    Ledgers, ListScope, Listings, PageRequest, PriorTurn, QueuePlace, RequestDigest, ResponseId,
    ResponseRecord, Restorer, Shard, SqliteStore, Store, StoreError, Tenant, ThreadId, TurnRecord,
    Usage, Watches,
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
    unreadable: Arc<AtomicBool>,
    unwritable: Arc<AtomicBool>,
    failing_commits: Arc<AtomicUsize>,
    failing_adoptions: Arc<AtomicUsize>,
    pub(super) loses_commit_result: Arc<AtomicBool>,
    pub(super) skips_announcement: Arc<AtomicBool>,
    pub(super) skips_stale_mark: Arc<AtomicBool>,
}

impl Faulty {
    pub(crate) fn new() -> Self {
        let inner = SqliteStore::in_memory().expect("there is memory");
        let recording = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS));
        Self {
            inner: inner.into(),
            recording,
            breaks: Arc::default(),
            unreadable: Arc::default(),
            unwritable: Arc::default(),
            failing_commits: Arc::default(),
            failing_adoptions: Arc::default(),
            loses_commit_result: Arc::default(),
            skips_announcement: Arc::default(),
            skips_stale_mark: Arc::default(),
        }
    }

    /// Openings and events are recorded only once [`Self::resume_recording`] says so.
    pub(crate) fn pause_recording(&self) {
        self.recording.forget_permits(Semaphore::MAX_PERMITS);
    }

    pub(crate) fn resume_recording(&self) {
        self.recording.add_permits(Semaphore::MAX_PERMITS);
    }

    /// The next response that is to be announced in a ledger is not.
    pub(crate) fn skip_next_announcement(&self) {
        self.skips_announcement.store(true, Ordering::SeqCst);
    }

    /// The next conversation that is to be in doubt is not.
    pub(crate) fn skip_next_stale_mark(&self) {
        self.skips_stale_mark.store(true, Ordering::SeqCst);
    }

    /// No conversation can be read.
    pub(crate) fn stop_reading(&self) {
        self.unreadable.store(true, Ordering::SeqCst);
    }

    /// Nothing can be written.
    pub(crate) fn stop_writing(&self) {
        self.unwritable.store(true, Ordering::SeqCst);
    }

    /// The next `count` commits fail.
    pub(crate) fn fail_commits(&self, count: usize) {
        self.failing_commits.store(count, Ordering::SeqCst);
    }

    /// The next commit happens, and seems to have failed.
    pub(crate) fn lose_next_commit_result(&self) {
        self.loses_commit_result.store(true, Ordering::SeqCst);
    }

    /// Everything works again.
    pub(crate) fn recover(&self) {
        for fault in [&self.unreadable, &self.unwritable, &self.loses_commit_result] {
            fault.store(false, Ordering::SeqCst);
        }
        self.fail_commits(0);
        self.fail_adoptions(0);
    }

    /// The next `count` conversations of providers cannot be recorded.
    pub(crate) fn fail_adoptions(&self, count: usize) {
        self.failing_adoptions.store(count, Ordering::SeqCst);
    }

    pub(super) fn check_adoption(&self) -> Result<()> {
        fail_if(&self.unwritable)?;
        fail_one_of(&self.failing_adoptions)
    }

    /// Who commits next panics.
    pub(crate) fn break_next_commit(&self) {
        self.breaks.store(true, Ordering::SeqCst);
    }
}

fn fail_if(fault: &AtomicBool) -> Result<()> {
    match fault.load(Ordering::SeqCst) {
        true => Err(StoreError::Unavailable("the disk is full".into())),
        false => Ok(()),
    }
}

/// Fails as often as is left; for ever, where that is the greatest number.
fn fail_one_of(left: &AtomicUsize) -> Result<()> {
    let fewer = |left: usize| (left < usize::MAX).then(|| left.saturating_sub(1));
    match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer) {
        Ok(0) => Ok(()),
        _ => Err(StoreError::Unavailable("the disk is full".into())),
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
    fn replace_value(name: &'static str, old: Bytes, new: Bytes) -> Result<bool>;
    fn value_or_insert(name: &'static str, candidate: Bytes) -> Result<Bytes>;
    fn create_conversation(
        tenant: &Tenant, conversation: Conversation, thread: ThreadId, items: Vec<HeldItem>
    ) -> Result<()>;
    fn set_metadata(
        tenant: &Tenant, id: &ConversationId, metadata: Bytes
    ) -> Result<Option<Conversation>>;
    fn delete_conversation(tenant: &Tenant, id: &ConversationId) -> Result<bool>;
    fn append_items(tenant: &Tenant, id: &ConversationId, items: Vec<HeldItem>) -> Result<()>;
    fn list_items(
        tenant: &Tenant, scope: &ListScope, page: &PageRequest
    ) -> Result<Option<ItemPage>>;
    fn item(
        tenant: &Tenant, conversation: &ConversationId, id: &ItemId
    ) -> Result<Option<HeldItem>>;
    fn delete_item(tenant: &Tenant, conversation: &ConversationId, id: &ItemId) -> Result<bool>;
    fn shard_of_request(
        tenant: &Tenant, request: &RequestDigest, candidate: Option<Shard>, now: i64
    ) -> Result<Shard>;
    fn find_prior_turns(
        tenant: &Tenant, shard: Shard, request: &RequestDigest, limit: usize
    ) -> Result<Vec<PriorTurn>>;
    fn retract(
        tenant: &Tenant, conversation: &ConversationId, request: &RequestDigest, fork: ThreadId,
        place: Option<QueuePlace>
    ) -> Result<bool>;
    fn response(tenant: &Tenant, id: &ResponseId) -> Result<Option<ResponseRecord>>;
    fn output_items(tenant: &Tenant, id: &ResponseId) -> Result<Vec<HeldItem>>;
    fn delete_response(tenant: &Tenant, id: &ResponseId) -> Result<bool>;
    fn expire_responses(created_before: i64, limit: usize) -> Result<usize>;
    fn transcript(tenant: &Tenant, cursor: Cursor) -> Result<Vec<HeldItem>>;
    fn locate(tenant: &Tenant, ids: &[ItemId]) -> Result<Vec<HeldItem>>;
    fn is_open(tenant: &Tenant, id: &ResponseId) -> Result<bool>;
    fn drop_pending_turn(tenant: &Tenant, id: &ResponseId) -> Result<()>;
    fn erase(tenant: &Tenant, now: i64, limit: usize) -> Result<DataCounts>;
    fn usage(tenant: &Tenant) -> Result<Usage>;
    fn conversation_usage(tenant: &Tenant, id: &ConversationId) -> Result<Usage>;
    fn settle_pending_turns() -> Result<usize>;
    fn claim_notices(now: i64, until: i64, limit: usize) -> Result<Vec<ClaimedNotice>>;
    fn settle_notice(claimed: &ClaimedNotice, then: Option<i64>) -> Result<()>;
    fn close() -> ();
    {
        fn listings(&self) -> &dyn Listings {
            self.inner.listings()
        }

        fn ledgers(&self) -> &dyn Ledgers {
            self
        }

        fn watches(&self) -> &dyn Watches {
            self.inner.watches()
        }

        fn restorer(&self) -> &dyn Restorer {
            self.inner.restorer()
        }

        fn background_jobs(&self) -> &dyn BackgroundJobs {
            self
        }

        /// A call that was begun is ended, whether or not its caller waits.
        async fn record_pending_turn(&self, tenant: &Tenant, turn: TurnRecord) -> Result<()> {
            let (store, tenant) = (self.clone(), tenant.clone());
            fail_if(&self.unwritable)?;
            let recording = tokio::spawn(async move {
                let _permit = store.recording.acquire().await.expect("it is never closed");
                store.inner.record_pending_turn(&tenant, turn).await
            });
            recording.await.expect("it does not panic")
        }

        async fn commit_turn(&self, tenant: &Tenant, turn: TurnRecord) -> Result<()> {
            assert!(!self.breaks.swap(false, Ordering::SeqCst), "the commit breaks");
            fail_if(&self.unwritable)?;
            fail_one_of(&self.failing_commits)?;
            self.inner.commit_turn(tenant, turn).await?;
            match self.loses_commit_result.swap(false, Ordering::SeqCst) {
                true => Err(StoreError::Unavailable("the connection is lost".into())),
                false => Ok(()),
            }
        }

        async fn check_writable(&self) -> Result<()> {
            fail_if(&self.unwritable)?;
            self.inner.check_writable().await
        }

        async fn conversation(
            &self, tenant: &Tenant, id: &ConversationId
        ) -> Result<Option<(Conversation, Cursor)>> {
            fail_if(&self.unreadable)?;
            self.inner.conversation(tenant, id).await
        }
    }
}
