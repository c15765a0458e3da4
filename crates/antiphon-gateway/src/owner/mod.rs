//! Who keeps conversations and responses: Antiphon, or an upstream under its own ids.
//!
//! The owner of what there is never changes, whatever the settings say later. Where no upstream keeps
//! anything, nothing is looked up.

mod account;
mod capabilities;
mod found;
mod late_binding;
mod missing;
mod probe;
mod provider;
#[cfg(test)]
mod strict;
#[cfg(test)]
mod world;

use antiphon_store::{ConversationId, LedgerEntry};

pub(crate) use self::capabilities::find_out;
pub(crate) use self::found::may_be_id;
pub(crate) use self::late_binding::NewOwner;
pub(crate) use self::provider::Provider;
use crate::alias::Alias;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::request::Continues;
use crate::settings::State;
use crate::upstream::{HttpUpstream, Upstream};

/// Who keeps something.
#[derive(Clone, Copy)]
pub(crate) enum Owner<'a> {
    /// Antiphon; or nobody, for all that the caller may know.
    Here,
    /// This upstream.
    Upstream(&'a HttpUpstream),
}

/// Who keeps what has an id, and what is known of it.
pub(crate) struct Owned<'a> {
    /// Who keeps it.
    pub(crate) owner: Owner<'a>,
    /// Its ledger, where an upstream keeps it and it was heard of.
    pub(crate) ledger: Option<LedgerEntry>,
    /// What its owner knows of the id.
    pub(crate) known_as: KnownAs,
}

/// How the id that a caller named is known to the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KnownAs {
    /// It is the owner's own id.
    OwnersId,
    /// It is Antiphon's id of a conversation that the upstream knows by another.
    Alias(Alias),
    /// It is the id of a conversation that no upstream has: its first turn decides.
    Pending(ConversationId),
}

impl KnownAs {
    /// The two ids, where there are two.
    pub(crate) fn alias(self) -> Option<Alias> {
        match self {
            Self::Alias(alias) => Some(alias),
            Self::OwnersId | Self::Pending(_) => None,
        }
    }
}

impl Gateway {
    /// Who keeps the responses that begin with a model of this upstream. One that does not go on from
    /// them keeps none.
    pub(crate) async fn owner_of_new<'a>(
        &self,
        caller: &Caller,
        upstream: Upstream<'a>,
    ) -> Owner<'a> {
        match keeping(upstream) {
            Some(http) if http.capabilities(caller).await.chains => Owner::Upstream(http),
            _ => Owner::Here,
        }
    }

    /// Who keeps the conversations that are begun for this upstream.
    pub(crate) async fn owner_of_new_conversation_for<'a>(
        &self,
        caller: &Caller,
        upstream: Upstream<'a>,
    ) -> Owner<'a> {
        match keeping(upstream) {
            Some(http) if http.capabilities(caller).await.conversations => Owner::Upstream(http),
            _ => Owner::Here,
        }
    }

    /// Who keeps what has this id. Of what nobody has, that is who says so: the upstream that is asked
    /// where no model is named; or Antiphon, where that one keeps nothing or several tenants share its
    /// account, to each of whom only what it began there exists.
    ///
    /// # Errors
    /// It is kept by an upstream that is not there any more.
    pub(crate) async fn owner_of(&self, caller: &Caller, id: &str) -> Result<Owned<'_>, ApiError> {
        self.owned(caller, id, self.upstreams.keeping()).await
    }

    /// Who keeps what a request goes on from, and will keep its turn. What nobody has is asked of the
    /// upstream that is to answer, by the same rule.
    ///
    /// # Errors
    /// As of [`Gateway::owner_of`]; or it is kept by another upstream than the one that is to answer.
    pub(crate) async fn owner_of_turn<'a>(
        &'a self,
        caller: &Caller,
        continues: &Continues,
        upstream: Upstream<'a>,
    ) -> Result<Owned<'a>, ApiError> {
        let (what, param, id) = match continues {
            Continues::Nothing => {
                let owner = self.owner_of_new(caller, upstream).await;
                return Ok(Owned { owner, ledger: None, known_as: KnownAs::OwnersId });
            }
            Continues::Conversation(id) => ("conversation", "conversation", id),
            Continues::Response(id) => ("response", "previous_response_id", id),
        };
        let owned = self.owned(caller, id, keeping(upstream)).await?;
        match owned.owner {
            Owner::Upstream(keeper) if !is_at(upstream, keeper) => {
                let whose = format!("The {what} '{id}' is kept by {}", described(keeper));
                Err(kept_by_another(&whose, upstream).param(param))
            }
            _ => Ok(owned),
        }
    }
}

/// The upstream, if it keeps what is begun with its models.
fn keeping(upstream: Upstream<'_>) -> Option<&HttpUpstream> {
    match upstream {
        Upstream::Http(http) if http.state() == State::Upstream => Some(http),
        _ => None,
    }
}

/// Whether what is asked of `upstream` is asked of `keeper`, though perhaps with other settings.
fn is_at(upstream: Upstream<'_>, keeper: &HttpUpstream) -> bool {
    matches!(upstream, Upstream::Http(http) if http.base() == keeper.base())
}

/// An upstream as callers are told of it: by the name that the operator gave it, never by its host.
pub(crate) fn described(http: &HttpUpstream) -> String {
    match http.public_name() {
        Some(name) => format!("the upstream '{name}'"),
        None => "an upstream".to_owned(),
    }
}

fn kept_by_another(whose: &str, upstream: Upstream<'_>) -> ApiError {
    let answering = match upstream {
        Upstream::Sim => "the built-in model".to_owned(),
        Upstream::Http(http) => match http.public_name() {
            Some(name) => format!("the upstream '{name}'"),
            None => "another upstream".to_owned(),
        },
    };
    ApiError::invalid(format!(
        "{whose}, but the model of this request is answered for by {answering}: a turn goes on where \
         its state is. Use a model of that upstream, or create a conversation for this model with \
         metadata {{\"antiphon_model\": MODEL}}."
    ))
    .code("invalid_value")
}
