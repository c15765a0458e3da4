//! Who keeps conversations and responses: Antiphon, or an upstream under its own ids.

mod capabilities;
mod listing;
mod probe;
mod provider;
mod segment;
#[cfg(test)]
mod world;

pub(crate) use self::capabilities::{Findings, find_out};
pub(crate) use self::provider::{KeptResponse, Provider};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::settings::State;
use crate::upstream::{HttpUpstream, Upstream};

/// Who keeps something.
#[derive(Clone, Copy)]
pub(crate) enum Owner<'a> {
    /// Antiphon.
    Here,
    /// This upstream.
    Upstream(&'a HttpUpstream),
}

impl Gateway {
    /// Who keeps the responses that begin with a model of this upstream.
    pub(crate) fn owner_of_new<'a>(&self, upstream: Upstream<'a>) -> Owner<'a> {
        match upstream {
            Upstream::Http(http) if http.state() == State::Upstream => Owner::Upstream(http),
            _ => Owner::Here,
        }
    }

    /// Who keeps what has this id, which may be nobody.
    pub(crate) async fn owner_of(&self, caller: &Caller, id: &str) -> Result<Owner<'_>, ApiError> {
        let entry = self.store.ledgers().entry(&caller.tenant, id).await?;
        let _ = entry;
        Ok(Owner::Here)
    }
}
