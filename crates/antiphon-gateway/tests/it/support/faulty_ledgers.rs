//! Ledgers that can be made to fail as no store's can be made from outside.

use std::sync::atomic::Ordering;

use antiphon::{HeldItem, ItemId};
use antiphon_store::{
    Binding, Conversation, ConversationId, LedgerEntry, LedgerSubject, Ledgers, QueuePlace,
    ResponseId, Store, StoreError, Tenant, ThreadId, UpstreamId,
};
use async_trait::async_trait;

use super::Faulty;

type Result<T> = std::result::Result<T, StoreError>;

macro_rules! passing_on {
    ($(fn $call:ident($($given:ident: $type:ty),*) -> $answer:ty;)* { $($own:tt)* }) => {
        #[async_trait]
        impl Ledgers for Faulty {
            $(
                async fn $call(&self, $($given: $type),*) -> $answer {
                    self.inner.ledgers().$call($($given),*).await
                }
            )*
            $($own)*
        }
    };
}

passing_on! {
    fn entry(tenant: &Tenant, provider_id: &str) -> Result<Option<LedgerEntry>>;
    fn upstream_id(tenant: &Tenant, response: &ResponseId) -> Result<Option<UpstreamId>>;
    fn mark_fresh(tenant: &Tenant, conversation: &ConversationId) -> Result<()>;
    fn resync(
        tenant: &Tenant, conversation: &ConversationId, thread: ThreadId, items: Vec<HeldItem>,
        place: Option<QueuePlace>
    ) -> Result<()>;
    fn create_unbound(
        tenant: &Tenant, conversation: Conversation, thread: ThreadId, items: Vec<HeldItem>
    ) -> Result<()>;
    fn binding(tenant: &Tenant, conversation: &ConversationId) -> Result<Option<Binding>>;
    fn bind_locally(tenant: &Tenant, conversation: &ConversationId) -> Result<bool>;
    fn has_any() -> Result<bool>;
    fn is_ledger(tenant: &Tenant, kept: &LedgerSubject) -> Result<bool>;
    fn find_generated(tenant: &Tenant, ids: &[ItemId]) -> Result<Vec<ItemId>>;
    fn forget(tenant: &Tenant, provider_id: &str) -> Result<bool>;
    fn expire_copies(now: i64, max_bytes: u64) -> Result<usize>;
    {
        async fn adopt(
            &self, tenant: &Tenant, named: UpstreamId, conversation: Conversation, thread: ThreadId
        ) -> Result<LedgerEntry> {
            self.check_adoption()?;
            self.inner.ledgers().adopt(tenant, named, conversation, thread).await
        }

        async fn bind(
            &self, tenant: &Tenant, conversation: &ConversationId, named: UpstreamId,
            thread: ThreadId,
            place: Option<QueuePlace>
        ) -> Result<bool> {
            self.check_adoption()?;
            let bound = self.inner.ledgers().bind(tenant, conversation, named, thread, place).await;
            match self.loses_commit_result.swap(false, Ordering::SeqCst) {
                true => Err(StoreError::Unavailable("the connection is lost".into())),
                false => bound,
            }
        }

        async fn announce(
            &self, tenant: &Tenant, named: UpstreamId, response: &ResponseId
        ) -> Result<()> {
            match self.skips_announcement.swap(false, Ordering::SeqCst) {
                true => Err(StoreError::Unavailable("the disk is full".into())),
                false => self.inner.ledgers().announce(tenant, named, response).await,
            }
        }

        async fn mark_stale(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<()> {
            match self.skips_stale_mark.swap(false, Ordering::SeqCst) {
                true => Err(StoreError::Unavailable("the disk is full".into())),
                false => self.inner.ledgers().mark_stale(tenant, conversation).await,
            }
        }
    }
}
