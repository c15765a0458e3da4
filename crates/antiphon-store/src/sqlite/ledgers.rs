//! Ledgers.

use antiphon::HeldItem;
use async_trait::async_trait;

use super::SqliteStore;
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Tenant, ThreadId};
use crate::ledgers::{LedgerEntry, Ledgers, Named};
use crate::records::Conversation;

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait]
impl Ledgers for SqliteStore {
    async fn entry(&self, _: &Tenant, _: &str) -> Result<Option<LedgerEntry>> {
        Ok(None)
    }

    async fn adopt(
        &self,
        _: &Tenant,
        _: Named,
        _: Conversation,
        _: ThreadId,
    ) -> Result<LedgerEntry> {
        Err(StoreError::Unavailable("ledgers".into()))
    }

    async fn announce(&self, _: &Tenant, _: Named, _: &ResponseId) -> Result<()> {
        Err(StoreError::Unavailable("ledgers".into()))
    }

    async fn doubt(&self, _: &Tenant, _: &ConversationId) -> Result<()> {
        Err(StoreError::Unavailable("ledgers".into()))
    }

    async fn relearn(
        &self,
        _: &Tenant,
        _: &ConversationId,
        _: ThreadId,
        _: Vec<HeldItem>,
    ) -> Result<()> {
        Err(StoreError::Unavailable("ledgers".into()))
    }

    async fn forget(&self, _: &Tenant, _: &str) -> Result<bool> {
        Err(StoreError::Unavailable("ledgers".into()))
    }
}
