//! Binds a conversation to an upstream at its first turn.
//!
//! `POST /v1/conversations` names no model. If several upstreams own conversations, a new one is
//! [`Binding::Pending`]: Antiphon stores its items and metadata until its first turn names a model.
//! Then the gateway creates the conversation at that model's upstream, with its metadata and items,
//! and deletes Antiphon's copy. Callers permanently use Antiphon's id ([`IdMapping`]).

use std::collections::HashSet;

use antiphon_store::{
    Binding, Conversation, ConversationId, LedgerEntry, LedgerSubject, StoreError, ThreadId,
    UpstreamId,
};
use bytes::Bytes;
use futures_util::future::join_all;

use super::{Owner, Provider, StateOwners};
use crate::caller::Caller;
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::gateway::StoreAttempts;
use crate::id_mapping::IdMapping;
use crate::lease::Lease;
use crate::settings::State;
use crate::upstream::{HttpUpstream, Upstreams};

/// The owner of a conversation that is created without a turn.
pub(crate) enum NewOwner<'a> {
    /// The owner is known.
    Known(Owner<'a>),
    /// The first turn determines the owner.
    FirstTurn,
}

impl<'a> StateOwners<'a, '_> {
    /// The owner of a new conversation without a model. If several upstreams own conversations, the
    /// first turn determines it; otherwise it is the upstream for requests without a model.
    pub(crate) async fn owner_of_new_conversation(self) -> NewOwner<'a> {
        let upstreams = &self.gateway.upstreams;
        let owners = upstreams.competing_state_owners();
        let capabilities = owners.iter().map(|http| http.capabilities(self.caller));
        let capabilities = join_all(capabilities).await;
        if capabilities.iter().filter(|found| found.conversations).count() > 1 {
            return NewOwner::FirstTurn;
        }
        NewOwner::Known(match upstreams.default_state_owner() {
            Some(http) if http.capabilities(self.caller).await.conversations => {
                Owner::Upstream(http)
            }
            _ => Owner::Gateway,
        })
    }

    /// The id mapping of a response's conversation, if callers use another id than the upstream.
    /// If the gateway has no record of the response and such conversations are possible, this reads
    /// the response from the upstream.
    pub(crate) async fn mapping_of_response(
        self,
        http: &HttpUpstream,
        id: &str,
        ledger: Option<&LedgerEntry>,
    ) -> Result<Option<IdMapping>, ApiError> {
        let (store, tenant) = (&self.gateway.store, &self.caller.tenant);
        if let Some(LedgerEntry { subject: LedgerSubject::Response(record), .. }) = ledger
            && let Some(record) = store.response(tenant, record).await?
        {
            return match &record.response.conversation {
                Some(conversation) => self.find_mapping(conversation).await,
                None => Ok(None),
            };
        }
        if self.gateway.upstreams.competing_state_owners().is_empty() {
            return Ok(None);
        }
        let response = Provider::new(http, self.caller).response(id).await.ok();
        let Some(theirs) = response.and_then(|response| response.conversation) else {
            return Ok(None);
        };
        match store.ledgers().entry(tenant, &theirs).await?.map(|entry| entry.subject) {
            Some(LedgerSubject::Conversation(conversation)) => {
                self.find_mapping(&conversation).await
            }
            _ => Ok(None),
        }
    }

    async fn find_mapping(self, id: &ConversationId) -> Result<Option<IdMapping>, ApiError> {
        Ok(match self.binding_of(id).binding().await? {
            Some(Binding::Bound(named)) => {
                Some(IdMapping { gateway: id.to_string(), upstream: named.id })
            }
            Some(Binding::Pending) | None => None,
        })
    }

    /// The binding of this conversation.
    pub(crate) fn binding_of<'b>(&'b self, id: &'b ConversationId) -> LateBinding<'b> {
        LateBinding { gateway: self.gateway, caller: self.caller, id }
    }
}

/// The binding of a conversation to the upstream of its first turn.
#[derive(Clone, Copy)]
pub(crate) struct LateBinding<'a> {
    gateway: &'a Gateway,
    caller: &'a Caller,
    id: &'a ConversationId,
}

impl LateBinding<'_> {
    async fn binding(self) -> Result<Option<Binding>, StoreError> {
        self.gateway.store.ledgers().binding(&self.caller.tenant, self.id).await
    }

    /// Creates a pending conversation at the upstream of its first turn, and binds it permanently.
    /// Does nothing if another turn has bound it, or it was deleted.
    ///
    /// The lease of the conversation is held from reading its items to the binding, so that two
    /// turns never both create it. If the process dies in between, the conversation stays pending,
    /// and the upstream may have an unused copy.
    pub(crate) async fn bind(self, http: &HttpUpstream) -> Result<(), ApiError> {
        self.gateway.check_store().await?;
        let lease = self.lease().await?;
        let bound = self.bind_leased(http, &lease).await;
        lease.release().await;
        bound
    }

    async fn bind_leased(self, http: &HttpUpstream, lease: &Lease) -> Result<(), ApiError> {
        let Self { gateway, caller, id } = self;
        let (store, tenant) = (&gateway.store, &caller.tenant);
        if self.binding().await? != Some(Binding::Pending) {
            return Ok(());
        }
        let Some((conversation, cursor)) = store.conversation(tenant, id).await? else {
            return Ok(());
        };
        let held = store.transcript(tenant, cursor).await?;
        if held.iter().any(|item| item.origin.is_some()) {
            // The conversation contains a model's output from a time when no upstream owned state:
            // Antiphon stays the owner.
            store.ledgers().bind_locally(tenant, id).await?;
            return Ok(());
        }
        gateway.owners(caller).check_held(http, &held).await?;
        let items: Vec<Bytes> = held.iter().filter_map(|it| it.body.bytes().cloned()).collect();
        let Conversation { metadata, .. } = conversation;
        let provider = Provider::new(http, caller);
        let theirs = provider.create_conversation(&metadata, &items).await?;
        let named = UpstreamId { upstream: http.base().to_owned(), id: theirs };
        match self.record(&named, lease).await {
            Ok(true) => {
                tracing::info!(
                    conversation = %id, upstream = http.label(), upstream_id = named.id,
                    items = items.len(), "bound a conversation to the upstream of its first turn"
                );
                Ok(())
            }
            Ok(false) => {
                delete_copy(&provider, &named).await;
                Ok(())
            }
            Err(error) => {
                // The binding may be recorded although the store failed. Then the copy is in use.
                if self.binding().await == Ok(Some(Binding::Pending)) {
                    delete_copy(&provider, &named).await;
                } else {
                    tracing::error!(
                        %error, conversation = %id, upstream_id = named.id,
                        "could not record to which upstream a conversation is bound; if it is not, \
                         delete the upstream's copy"
                    );
                }
                Err(error.into())
            }
        }
    }

    /// Records the binding, and repeats this within a time limit while the store is unavailable.
    /// Returns `false` if the conversation is no longer pending.
    async fn record(self, named: &UpstreamId, lease: &Lease) -> Result<bool, StoreError> {
        let Self { gateway, caller, id } = self;
        let (ledgers, tenant) = (gateway.store.ledgers(), &caller.tenant);
        let mut attempts = StoreAttempts::new(gateway);
        loop {
            let thread = ThreadId::issue(&mut RandomIds);
            let bound = ledgers.bind(tenant, id, named.clone(), thread, lease.place()).await;
            match bound {
                Err(error) if error.is_outage() && attempts.pause().await => {}
                // An earlier attempt may have succeeded although it returned an error.
                Ok(false) => {
                    return Ok(
                        self.binding().await?.as_ref() == Some(&Binding::Bound(named.clone()))
                    );
                }
                bound => {
                    gateway.write_check.record(&bound);
                    return bound;
                }
            }
        }
    }

    /// The lease of a conversation that its first turn may bind concurrently; `None` for all
    /// others. Fails if the conversation is bound now, because the request refers to Antiphon's
    /// copy.
    pub(crate) async fn lease_if_pending(self) -> Result<Option<Lease>, ApiError> {
        if !self.gateway.upstreams.may_own_state() || !self.is_pending().await? {
            return Ok(None);
        }
        let lease = self.lease().await?;
        self.is_pending().await?;
        Ok(Some(lease))
    }

    /// The lease of a conversation in Antiphon's store, for a change of its items. Fails if the
    /// conversation was bound during the wait.
    pub(crate) async fn lease_for_items(self) -> Result<Lease, ApiError> {
        let lease = self.lease().await?;
        if self.gateway.upstreams.may_own_state() {
            self.is_pending().await?;
        }
        Ok(lease)
    }

    /// Whether the conversation is pending.
    ///
    /// # Errors
    /// The conversation is bound.
    async fn is_pending(self) -> Result<bool, ApiError> {
        match self.binding().await? {
            None => Ok(false),
            Some(Binding::Pending) => Ok(true),
            Some(Binding::Bound(_)) => Err(ApiError::ConversationLocked),
        }
    }

    async fn lease(self) -> Result<Lease, ApiError> {
        self.gateway.lease(&self.caller.tenant, self.id).await
    }
}

/// Deletes a copy that the conversation is not bound to.
async fn delete_copy(provider: &Provider<'_>, named: &UpstreamId) {
    if let Err(error) = provider.delete_conversation(&named.id).await {
        tracing::error!(
            %error, upstream_id = named.id,
            "could not delete an upstream's copy of a conversation that is not bound to it; delete \
             it there"
        );
    }
}

impl Upstreams {
    /// One upstream for each base URL with upstream-owned state, if there is more than one.
    pub(crate) fn competing_state_owners(&self) -> Vec<&HttpUpstream> {
        let mut bases = HashSet::new();
        let owners = self.http().iter().filter(|http| http.state() == State::Upstream);
        let owners: Vec<_> = owners.filter(|http| bases.insert(http.base())).collect();
        if owners.len() > 1 { owners } else { Vec::new() }
    }
}
