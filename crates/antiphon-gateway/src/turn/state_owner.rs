//! The owner of the state that a turn continues.

use antiphon_store::ConversationId;

use super::client::Client;
use super::context::Turn;
use super::upstream_state::UpstreamTurn;
use crate::alias::Alias;
use crate::error::ApiError;
use crate::owner::{KnownAs, Owner};
use crate::request::{Continues, RequestMode};
use crate::upstream::{HttpUpstream, Upstream};

/// The owner of the state, and of the turn that is added to it.
pub(super) enum StateOwner<'a> {
    /// The gateway.
    Here,
    /// This upstream. An alias is present if callers know the conversation by another id.
    Upstream(&'a HttpUpstream, Option<Alias>),
    /// This upstream, after the conversation is bound to it.
    ToBeBound(&'a HttpUpstream, ConversationId),
}

impl Turn<'_> {
    /// Finds the owner of the state. State that nobody stored is replayed by the client or its
    /// connection. A pending conversation stays at the gateway from now on if the model's upstream
    /// has no conversations.
    pub(super) async fn state_owner<'u>(
        &'u self,
        upstream: Upstream<'u>,
    ) -> Result<StateOwner<'u>, ApiError> {
        let continues = &self.request.continues;
        let is_kept_here = match continues {
            Continues::Nothing => !self.request.store || self.request.wants != RequestMode::Answer,
            Continues::Response(id) => self.remembered(id).is_some(),
            Continues::Conversation(_) => false,
        };
        if is_kept_here {
            return Ok(StateOwner::Here);
        }
        let owned = self.gateway.owner_of_turn(self.caller, continues, upstream).await?;
        Ok(match (owned.known_as, owned.owner, upstream) {
            (KnownAs::Pending(id), ..) => return self.owner_of_pending(id, upstream).await,
            (known_as, Owner::Upstream(_), Upstream::Http(http)) => {
                StateOwner::Upstream(http, known_as.alias())
            }
            _ => StateOwner::Here,
        })
    }

    async fn owner_of_pending<'u>(
        &'u self,
        id: ConversationId,
        upstream: Upstream<'u>,
    ) -> Result<StateOwner<'u>, ApiError> {
        match self.gateway.owner_of_new_conversation_for(self.caller, upstream).await {
            Owner::Upstream(http) => Ok(StateOwner::ToBeBound(http, id)),
            Owner::Gateway => {
                let ledgers = self.gateway.store.ledgers();
                match ledgers.bind_locally(&self.caller.tenant, &id).await? {
                    true => Ok(StateOwner::Here),
                    // Another turn has just decided.
                    false => Err(ApiError::ConversationLocked),
                }
            }
        }
    }

    /// Finds the owner of the state and binds a pending conversation to the turn's upstream.
    pub(super) async fn bound_state_owner<'u>(
        &'u self,
        upstream: Upstream<'u>,
    ) -> Result<StateOwner<'u>, ApiError> {
        let owner = self.state_owner(upstream).await?;
        let StateOwner::ToBeBound(http, id) = owner else { return Ok(owner) };
        UpstreamTurn::new(self, http).check_request().await?;
        self.gateway.bind(self.caller, http, &id).await?;
        match self.state_owner(upstream).await? {
            owner @ StateOwner::Upstream(..) => Ok(owner),
            StateOwner::Here if !self.request.background => Ok(StateOwner::Here),
            // The conversation has just become the gateway's. The next attempt will see that.
            StateOwner::Here | StateOwner::ToBeBound(..) => Err(ApiError::ConversationLocked),
        }
    }

    /// Runs a turn whose state this upstream owns, from start to end.
    pub(super) async fn take_upstream(
        &self,
        http: &HttpUpstream,
        alias: Option<Alias>,
        client: &mut Client,
    ) -> Result<(), ApiError> {
        let Some(alias) = alias else {
            return Box::pin(UpstreamTurn::new(self, http).take(client)).await;
        };
        let request = alias.request(self.request);
        let turn = Turn { request: &request, ..self.clone() };
        let taken = Box::pin(UpstreamTurn::new(&turn, http).known_as(&alias).take(client)).await;
        taken.map_err(|error| alias.error(error))
    }
}
