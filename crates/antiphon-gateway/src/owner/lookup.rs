//! Finds the owner of an id.

use antiphon::dialect::Vendor;
use antiphon::provider_api::Segment;
use antiphon_store::{Binding, LedgerEntry, LedgerSubject, ResponseId};

use super::{KnownAs, Owner, Ownership, StateOwners};
use crate::error::{ApiError, Hint};
use crate::id_mapping::IdMapping;
use crate::settings::State;
use crate::upstream::{HttpUpstream, Upstreams};

impl Ownership<'_> {
    /// Owned by Antiphon, or unknown.
    const GATEWAY: Self = Self { owner: Owner::Gateway, ledger: None, known_as: KnownAs::OwnersId };
}

impl<'a> StateOwners<'a, '_> {
    /// Finds the owner of this id in a fixed order: ledgers, the store, then `asked`. The upstream
    /// `asked` becomes the owner of an unknown id, if the caller may access it.
    pub(crate) async fn find_owner(
        self,
        id: &str,
        asked: Option<&'a HttpUpstream>,
    ) -> Result<Ownership<'a>, ApiError> {
        let (ledgers, tenant) = (self.gateway.store.ledgers(), &self.caller.tenant);
        if !self.gateway.upstreams.may_own_state() {
            return Ok(Ownership::GATEWAY);
        }
        if let Some(entry) = ledgers.entry(tenant, id).await? {
            return self.owned_by_upstream(id, entry);
        }
        if let Some(kept) = LedgerSubject::parse(id)
            && self.has(&kept).await?
        {
            return self.find_owner_by_gateway_id(id, &kept).await;
        }
        match asked {
            Some(http) if self.may_forward_unknown(http, id).await => {
                Ok(Ownership { owner: Owner::Upstream(http), ..Ownership::GATEWAY })
            }
            _ => Ok(Ownership::GATEWAY),
        }
    }

    /// The owner of the conversation or response with this id in the store.
    async fn find_owner_by_gateway_id(
        self,
        text: &str,
        kept: &LedgerSubject,
    ) -> Result<Ownership<'a>, ApiError> {
        let (ledgers, tenant) = (self.gateway.store.ledgers(), &self.caller.tenant);
        let binding = match kept {
            LedgerSubject::Conversation(id) => ledgers.binding(tenant, id).await?,
            LedgerSubject::Response(_) => None,
        };
        match (binding, kept) {
            (Some(Binding::Bound(named)), _) => {
                let entry = ledgers.entry(tenant, &named.id).await?;
                let entry = entry.ok_or_else(|| ApiError::ConversationNotFound {
                    id: text.into(),
                    hint: Hint::None,
                })?;
                let mapping = IdMapping { gateway: text.to_owned(), upstream: named.id };
                let owned = self.owned_by_upstream(text, entry)?;
                Ok(Ownership { known_as: KnownAs::Mapped(mapping), ..owned })
            }
            (Some(Binding::Pending), LedgerSubject::Conversation(id)) => {
                Ok(Ownership { known_as: KnownAs::Pending(id.clone()), ..Ownership::GATEWAY })
            }
            _ if ledgers.is_ledger(tenant, kept).await? => Err(hidden_ledger(text, kept)),
            _ => Ok(Ownership::GATEWAY),
        }
    }

    fn owned_by_upstream(self, id: &str, entry: LedgerEntry) -> Result<Ownership<'a>, ApiError> {
        let keeper = self.gateway.upstreams.by_base_url(&entry.upstream);
        let keeper = keeper.ok_or_else(|| owner_not_configured(id, &entry.upstream))?;
        Ok(Ownership { owner: Owner::Upstream(keeper), ledger: Some(entry), ..Ownership::GATEWAY })
    }

    /// Whether the store has the object, or will have it at the end of an open turn.
    async fn has(self, kept: &LedgerSubject) -> Result<bool, ApiError> {
        let (store, tenant) = (&self.gateway.store, &self.caller.tenant);
        match kept {
            LedgerSubject::Conversation(id) => Ok(store.conversation(tenant, id).await?.is_some()),
            // The turn may end between the first two checks.
            LedgerSubject::Response(id) => Ok(store.response(tenant, id).await?.is_some()
                || store.is_open(tenant, id).await?
                || store.response(tenant, id).await?.is_some()),
        }
    }

    /// Whether a request with an unknown id may go to an upstream.
    async fn may_forward_unknown(self, http: &HttpUpstream, id: &str) -> bool {
        let is_conversation = || id.starts_with("conv_");
        may_be_id(id)
            && !self.gateway.is_shared(http)
            && (!is_conversation() || http.capabilities(self.caller).await.conversations)
    }

    /// The id of the gateway's record of a response with any owner. `None` if there is no record.
    pub(crate) async fn record_of(self, id: &str) -> Result<Option<ResponseId>, ApiError> {
        match self.find_owner(id, None).await?.ledger.map(|entry| entry.subject) {
            Some(LedgerSubject::Response(ours)) => Ok(Some(ours)),
            Some(LedgerSubject::Conversation(_)) => Ok(None),
            None => Ok(ResponseId::parse(id)),
        }
    }
}

impl Upstreams {
    /// Whether any upstream owns new state, or a ledger existed when the gateway started.
    pub(crate) fn may_own_state(&self) -> bool {
        self.has_ledgers || self.http().iter().any(owns_new_state)
    }

    /// The upstream for requests without a model, if it owns new state.
    pub(crate) fn default_state_owner(&self) -> Option<&HttpUpstream> {
        self.for_vendor(Vendor::OpenAi).filter(|http| owns_new_state(http))
    }

    /// The upstream at this base URL. If there are several, those that own new state come first,
    /// and among them the one for requests without a model.
    pub(crate) fn by_base_url(&self, base: &str) -> Option<&HttpUpstream> {
        let mut there = self.http().iter().filter(|http| http.base() == base);
        let default = self.default_state_owner().filter(|http| http.base() == base);
        default.or_else(|| there.clone().find(|http| owns_new_state(http))).or_else(|| there.next())
    }
}

fn owns_new_state(http: &HttpUpstream) -> bool {
    http.state() == State::Upstream
}

/// Whether a text can be an id. Other texts are never sent to an upstream.
pub(crate) fn may_be_id(text: &str) -> bool {
    Segment::parse(text).is_some()
}

/// The error for Antiphon's own id of a ledger: callers use the provider's id.
fn hidden_ledger(id: &str, kept: &LedgerSubject) -> ApiError {
    match kept {
        LedgerSubject::Conversation(_) => {
            ApiError::ConversationNotFound { id: id.into(), hint: Hint::None }
        }
        LedgerSubject::Response(_) => {
            ApiError::ResponseNotFound { id: id.into(), hint: Hint::None }
        }
    }
}

fn owner_not_configured(id: &str, upstream: &str) -> ApiError {
    tracing::warn!(
        upstream,
        "a request refers to state of an upstream that is not configured; add the upstream"
    );
    ApiError::OwnerNotConfigured { id: id.into() }
}
