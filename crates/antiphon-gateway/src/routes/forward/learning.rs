//! What ledgers learn of what is made and deleted.
//!
//! A conversation that is made is known before its maker is told of it; one that is deleted is forgotten,
//! and so is a response.

use antiphon::json::Object;
use antiphon_store::{
    Conversation, ConversationId, Kept, LedgerEntry, Named, Shard, StoreError, ThreadId,
};
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;

use super::passing::Passing;
use crate::caller::Caller;
use crate::entropy::{RandomIds, unix_now};
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::lease::Lease;
use crate::owner::Provider;
use crate::turn::StoreAttempts;
use crate::upstream::{HttpUpstream, UpstreamError};

/// Learns, for one caller, what an upstream makes of requests.
pub(super) struct Learning<'a> {
    pub(super) gateway: &'a Gateway,
    pub(super) caller: &'a Caller,
    pub(super) http: &'a HttpUpstream,
}

/// A conversation whose items nobody else changes through a gateway.
pub(super) struct Leased {
    pub(super) conversation: ConversationId,
    /// Whether the ledger was known to be right before this request.
    pub(super) was_sure: bool,
    pub(super) lease: Lease,
}

/// Conversations that are made.
impl Learning<'_> {
    pub(super) async fn of_new(
        &self,
        passing: Passing<'_>,
        begins_empty: bool,
    ) -> Result<Response, ApiError> {
        self.gateway.check_store().await?;
        let heard = passing.heard().await?;
        if heard.status.is_success() {
            let id = id_in(&heard.body).ok_or_else(no_conversation)?;
            if let Err(error) = self.adopt_patiently(&id, begins_empty).await {
                return Err(self.undo(&id, &error).await);
            }
        }
        Ok(heard.told())
    }

    /// Begins the ledger, and repeats that while the store is unavailable, within a bound.
    async fn adopt_patiently(&self, id: &str, is_empty: bool) -> Result<(), StoreError> {
        let mut attempts = StoreAttempts::new(self.gateway);
        loop {
            let adopted = self.adopt(id, is_empty).await;
            let may_pass = adopted.as_ref().is_err_and(StoreError::is_outage);
            if !may_pass || !attempts.pause().await {
                self.gateway.write_check.note(&adopted);
                return adopted;
            }
        }
    }

    /// Deletes a conversation at the upstream that cannot be recorded here: its maker is told that
    /// there is none, and nobody else would ever delete it.
    async fn undo(&self, id: &str, error: &StoreError) -> ApiError {
        let deleted = Provider::new(self.http, self.caller).delete_conversation(id).await;
        match deleted {
            Ok(()) => {
                tracing::error!(%error, "could not record a new conversation; deleted it upstream");
                ApiError::store_unavailable(
                    "The store of ledgers is unavailable. The new conversation was deleted at the \
                     upstream. Please retry.",
                )
            }
            Err(left) => {
                tracing::error!(
                    %error, %left, conversation = id,
                    "could not record a new conversation, nor delete it upstream"
                );
                ApiError::store_unavailable(format!(
                    "The upstream made the conversation '{id}', but the store of ledgers is \
                     unavailable, and the upstream did not delete it."
                ))
            }
        }
    }

    /// Begins the ledger. What items it begins with is asked for by its first turn.
    async fn adopt(&self, id: &str, is_empty: bool) -> Result<(), StoreError> {
        let (ledgers, tenant) = (self.gateway.store.ledgers(), &self.caller.tenant);
        let ours = ConversationId::issue(Shard::issue(&mut RandomIds), &mut RandomIds);
        let named = Named { upstream: self.http.base().to_owned(), id: id.to_owned() };
        let metadata = Bytes::from_static(b"{}");
        let conversation = Conversation { id: ours.clone(), created_at: unix_now(), metadata };
        let thread = || ThreadId::issue(&mut RandomIds);
        let entry = ledgers.adopt(tenant, named, conversation, thread()).await?;
        // One that was known already is told of again where its maker asks once more.
        match entry.kept == Kept::Conversation(ours.clone()) && is_empty {
            true => ledgers.relearn(tenant, &ours, thread(), Vec::new(), None).await,
            false => Ok(()),
        }
    }
}

/// Conversations and responses that are deleted.
impl Learning<'_> {
    pub(super) async fn of_deletion(
        &self,
        passing: Passing<'_>,
        id: &str,
        ledger: Option<&LedgerEntry>,
    ) -> Result<Response, ApiError> {
        let leased = self.leased(id, ledger).await?;
        let heard = passing.heard().await?;
        if self.is_gone(heard.status) {
            self.gateway.store.ledgers().forget(&self.caller.tenant, id).await?;
        }
        if let Some(leased) = leased {
            leased.lease.release().await;
        }
        Ok(heard.told())
    }

    /// Whether what was to be deleted is not there any more. That the upstream does not find it may be
    /// because the request names another project: then it is forgotten only where it can be heard of
    /// again, as it cannot in an account that tenants share. A request that only reads forgets nothing.
    fn is_gone(&self, status: StatusCode) -> bool {
        status.is_success() || status == StatusCode::NOT_FOUND && !self.gateway.is_shared(self.http)
    }
}

/// What is known of a conversation.
impl Learning<'_> {
    /// The conversation's lease, where it has a ledger.
    pub(super) async fn leased(
        &self,
        id: &str,
        ledger: Option<&LedgerEntry>,
    ) -> Result<Option<Leased>, ApiError> {
        let Some(LedgerEntry { kept: Kept::Conversation(conversation), .. }) = ledger else {
            return Ok(None);
        };
        let tenant = &self.caller.tenant;
        let lease = self.gateway.lease(tenant, conversation).await?;
        // The turn that was waited for may have changed it.
        let entry = self.gateway.store.ledgers().entry(tenant, id).await?;
        let was_sure = entry.is_some_and(|entry| !entry.in_doubt);
        Ok(Some(Leased { conversation: conversation.clone(), was_sure, lease }))
    }
}

fn id_in(body: &[u8]) -> Option<String> {
    let conversation = Object::parse(body).ok()?;
    conversation.string("id").filter(|id| !id.is_empty()).map(std::borrow::Cow::into_owned)
}

fn no_conversation() -> ApiError {
    UpstreamError::Garbled("a conversation without an id".to_owned()).into()
}
