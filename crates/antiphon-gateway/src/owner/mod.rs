//! The owners of conversations and responses: Antiphon, or an upstream with its own ids.
//!
//! The owner of an existing object never changes, even if the settings change. If no upstream owns
//! state, no lookup is necessary.

mod account;
mod capabilities;
mod late_binding;
mod lookup;
mod not_found;
mod probe;
mod provider;
#[cfg(test)]
mod tests;

use antiphon_store::{ConversationId, LedgerEntry};

pub(crate) use self::capabilities::detect_capabilities;
pub(crate) use self::late_binding::NewOwner;
pub(crate) use self::lookup::may_be_id;
pub(crate) use self::provider::Provider;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::id_mapping::IdMapping;
use crate::request::Continues;
use crate::settings::State;
use crate::upstream::{HttpUpstream, Upstream};

/// The owner of an object.
#[derive(Clone, Copy)]
pub(crate) enum Owner<'a> {
    /// Antiphon; also for an id that does not exist for the caller.
    Gateway,
    /// This upstream.
    Upstream(&'a HttpUpstream),
}

/// The owner of an id, and the data about the id.
pub(crate) struct Ownership<'a> {
    /// The owner.
    pub(crate) owner: Owner<'a>,
    /// The ledger of the object, if an upstream owns it and the gateway has recorded it.
    pub(crate) ledger: Option<LedgerEntry>,
    /// The relation of the id to the owner.
    pub(crate) known_as: KnownAs,
}

/// The relation between the id in a request and the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KnownAs {
    /// The id is the owner's own id.
    OwnersId,
    /// The id is Antiphon's id of a conversation with another id at the upstream.
    Mapped(IdMapping),
    /// The id of a pending conversation: its first turn determines the upstream.
    Pending(ConversationId),
}

impl KnownAs {
    /// The two ids, if there are two.
    pub(crate) fn mapping(self) -> Option<IdMapping> {
        match self {
            Self::Mapped(mapping) => Some(mapping),
            Self::OwnersId | Self::Pending(_) => None,
        }
    }
}

/// The owners of the objects that one caller uses.
#[derive(Clone, Copy)]
pub(crate) struct StateOwners<'a, 'c> {
    gateway: &'a Gateway,
    caller: &'c Caller,
}

impl Gateway {
    /// The owners of the objects that this caller uses.
    pub(crate) fn owners<'a, 'c>(&'a self, caller: &'c Caller) -> StateOwners<'a, 'c> {
        StateOwners { gateway: self, caller }
    }
}

impl<'a> StateOwners<'a, '_> {
    /// The owner of new responses of this upstream's models. An upstream that cannot continue
    /// responses owns none.
    async fn owner_of_new(self, upstream: Upstream<'a>) -> Owner<'a> {
        match state_owner(upstream) {
            Some(http) if http.capabilities(self.caller).await.chains => Owner::Upstream(http),
            _ => Owner::Gateway,
        }
    }

    /// The owner of new conversations for this upstream.
    pub(crate) async fn owner_of_new_conversation_for(self, upstream: Upstream<'a>) -> Owner<'a> {
        match state_owner(upstream) {
            Some(http) if http.capabilities(self.caller).await.conversations => {
                Owner::Upstream(http)
            }
            _ => Owner::Gateway,
        }
    }

    /// The owner of the object with this id.
    ///
    /// For an unknown id, the owner is the upstream for requests without a model, which then
    /// answers the request. It is Antiphon if this upstream owns no state, or if several tenants
    /// share its account, because each tenant may only use the objects that it created there.
    ///
    /// # Errors
    /// The object is owned by an upstream that is no longer configured.
    pub(crate) async fn owner_of(self, id: &str) -> Result<Ownership<'a>, ApiError> {
        self.find_owner(id, self.gateway.upstreams.default_state_owner()).await
    }

    /// The owner of the state that a request continues, which is also the owner of the turn. An
    /// unknown id belongs to the upstream of the turn, by the same rule as in
    /// [`StateOwners::owner_of`].
    ///
    /// # Errors
    /// As in [`StateOwners::owner_of`], or the owner is another upstream than the one of the turn.
    pub(crate) async fn owner_of_turn(
        self,
        continues: &Continues,
        upstream: Upstream<'a>,
    ) -> Result<Ownership<'a>, ApiError> {
        let (object, path, id) = match continues {
            Continues::Nothing => {
                let owner = self.owner_of_new(upstream).await;
                return Ok(Ownership { owner, ledger: None, known_as: KnownAs::OwnersId });
            }
            Continues::Conversation(id) => ("conversation", "conversation", id),
            Continues::Response(id) => ("response", "previous_response_id", id),
        };
        let owned = self.find_owner(id, state_owner(upstream)).await?;
        match owned.owner {
            Owner::Upstream(owner) if !is_at(upstream, owner) => {
                let (id, owner) = (id.clone(), describe(owner));
                let server = describe_server(upstream);
                Err(ApiError::StateElsewhere { path, object, id, owner, server })
            }
            _ => Ok(owned),
        }
    }
}

/// The upstream, if it owns new state of its models.
fn state_owner(upstream: Upstream<'_>) -> Option<&HttpUpstream> {
    match upstream {
        Upstream::Http(http) if http.state() == State::Upstream => Some(http),
        _ => None,
    }
}

/// Whether `upstream` and `owner` are the same server, perhaps with different settings.
fn is_at(upstream: Upstream<'_>, owner: &HttpUpstream) -> bool {
    matches!(upstream, Upstream::Http(http) if http.base() == owner.base())
}

/// The description of an upstream for callers: its configured name, never its host.
pub(crate) fn describe(http: &HttpUpstream) -> String {
    match http.public_name() {
        Some(name) => format!("the upstream '{name}'"),
        None => "an upstream".to_owned(),
    }
}

/// The description of the server that answers a request, for callers.
fn describe_server(upstream: Upstream<'_>) -> String {
    match upstream {
        Upstream::Local(_) => "the built-in model".to_owned(),
        Upstream::Http(http) => match http.public_name() {
            Some(name) => format!("the upstream '{name}'"),
            None => "another upstream".to_owned(),
        },
    }
}
