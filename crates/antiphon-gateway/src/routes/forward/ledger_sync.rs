//! Ledger updates after conversations and responses were created or deleted.
//!
//! A new conversation is recorded before its creator gets the answer. A deleted conversation or
//! response is removed.

use antiphon::json::Object;
use antiphon_store::{
    Conversation, ConversationId, LedgerEntry, LedgerSubject, Shard, StoreError, ThreadId,
    UpstreamId,
};
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;

use super::forwarded::ForwardedRequest;
use crate::caller::Caller;
use crate::entropy::{RandomIds, unix_now};
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::gateway::StoreAttempts;
use crate::lease::Lease;
use crate::owner::Provider;
use crate::upstream::{HttpUpstream, UpstreamError};

/// Records the effects of one caller's requests to an upstream.
pub(super) struct LedgerSync<'a> {
    pub(super) gateway: &'a Gateway,
    pub(super) caller: &'a Caller,
    pub(super) http: &'a HttpUpstream,
}

/// A conversation under lease: nobody else changes its items through a gateway.
pub(super) struct Leased {
    pub(super) conversation: ConversationId,
    /// Whether the ledger was fresh before this request.
    pub(super) was_fresh: bool,
    pub(super) lease: Lease,
}

/// New conversations.
impl LedgerSync<'_> {
    pub(super) async fn sync_created(
        &self,
        forwarded: ForwardedRequest<'_>,
        begins_empty: bool,
    ) -> Result<Response, ApiError> {
        self.gateway.check_store().await?;
        let answer = forwarded.send_and_read().await?;
        if answer.status.is_success() {
            let id = conversation_id(&answer.body).ok_or_else(no_conversation)?;
            if let Err(error) = self.adopt_with_retries(&id, begins_empty).await {
                return Err(self.undo(&id, &error).await);
            }
        }
        Ok(answer.into_response())
    }

    /// Creates the ledger. Retries within a bound while the store is unavailable.
    async fn adopt_with_retries(&self, id: &str, is_empty: bool) -> Result<(), StoreError> {
        let mut attempts = StoreAttempts::new(self.gateway);
        loop {
            let adopted = self.adopt(id, is_empty).await;
            let is_retryable = adopted.as_ref().is_err_and(StoreError::is_outage);
            if !is_retryable || !attempts.pause().await {
                self.gateway.write_check.record(&adopted);
                return adopted;
            }
        }
    }

    /// Deletes a conversation at the upstream that could not be recorded here. Its creator gets an
    /// error, so nobody else would ever delete it.
    async fn undo(&self, id: &str, error: &StoreError) -> ApiError {
        let deleted = Provider::new(self.http, self.caller).delete_conversation(id).await;
        match deleted {
            Ok(()) => {
                tracing::error!(
                    %error,
                    "could not record a new conversation; deleted it at the upstream"
                );
                ApiError::ConversationNotRecorded
            }
            Err(left) => {
                tracing::error!(
                    %error, %left, conversation = id,
                    "could not record a new conversation, nor delete it; delete it at the upstream"
                );
                ApiError::ConversationLeftAtUpstream { id: id.into() }
            }
        }
    }

    /// Creates the ledger. The first turn reads the items that the conversation starts with.
    async fn adopt(&self, id: &str, is_empty: bool) -> Result<(), StoreError> {
        let (ledgers, tenant) = (self.gateway.store.ledgers(), &self.caller.tenant);
        let ours = ConversationId::issue(Shard::issue(&mut RandomIds), &mut RandomIds);
        let named = UpstreamId { upstream: self.http.base().to_owned(), id: id.to_owned() };
        let metadata = Bytes::from_static(b"{}");
        let conversation = Conversation { id: ours.clone(), created_at: unix_now(), metadata };
        let thread = || ThreadId::issue(&mut RandomIds);
        let entry = ledgers.adopt(tenant, named, conversation, thread()).await?;
        // The ledger may already exist if the creator retried its request.
        match entry.subject == LedgerSubject::Conversation(ours.clone()) && is_empty {
            true => ledgers.resync(tenant, &ours, thread(), Vec::new(), None).await,
            false => Ok(()),
        }
    }
}

/// Deleted conversations and responses.
impl LedgerSync<'_> {
    pub(super) async fn sync_deleted(
        &self,
        forwarded: ForwardedRequest<'_>,
        id: &str,
        ledger: Option<&LedgerEntry>,
    ) -> Result<Response, ApiError> {
        let leased = self.leased(id, ledger).await?;
        let answer = forwarded.send_and_read().await?;
        if self.is_gone(answer.status) {
            self.gateway.store.ledgers().forget(&self.caller.tenant, id).await?;
        }
        if let Some(leased) = leased {
            leased.lease.release().await;
        }
        Ok(answer.into_response())
    }

    /// Whether the object no longer exists at the upstream.
    ///
    /// A 404 can also mean that the request named another project. The ledger is then removed only
    /// if it can be found again later, which is impossible in an account that tenants share. A
    /// request that only reads never removes a ledger.
    fn is_gone(&self, status: StatusCode) -> bool {
        status.is_success() || status == StatusCode::NOT_FOUND && !self.gateway.is_shared(self.http)
    }
}

/// Leases of known conversations.
impl LedgerSync<'_> {
    /// The conversation's lease, if it has a ledger.
    pub(super) async fn leased(
        &self,
        id: &str,
        ledger: Option<&LedgerEntry>,
    ) -> Result<Option<Leased>, ApiError> {
        let Some(LedgerEntry { subject: LedgerSubject::Conversation(conversation), .. }) = ledger
        else {
            return Ok(None);
        };
        let tenant = &self.caller.tenant;
        let lease = self.gateway.lease(tenant, conversation).await?;
        // The turn that held the lease may have changed the entry.
        let entry = self.gateway.store.ledgers().entry(tenant, id).await?;
        let was_fresh = entry.is_some_and(|entry| !entry.is_stale);
        Ok(Some(Leased { conversation: conversation.clone(), was_fresh, lease }))
    }
}

fn conversation_id(body: &[u8]) -> Option<String> {
    let conversation = Object::parse(body).ok()?;
    conversation.string("id").filter(|id| !id.is_empty()).map(std::borrow::Cow::into_owned)
}

fn no_conversation() -> ApiError {
    UpstreamError::UnexpectedAnswer("a conversation without an id".to_owned()).into()
}
