//! Finding who keeps what has an id.

use antiphon_store::{ConversationId, LedgerEntry, ResponseId};

use super::{Owned, Owner};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::settings::State;
use crate::upstream::{HttpUpstream, Upstreams};

impl Owned<'_> {
    /// Kept here, or nowhere.
    const HERE: Self = Self { owner: Owner::Here, ledger: None };
}

impl Gateway {
    /// Who keeps what has this id, in the order in which it is looked for. What nobody has is asked of
    /// `asked`, if the caller may ask it.
    pub(crate) async fn owned<'a>(
        &'a self,
        caller: &Caller,
        id: &str,
        asked: Option<&'a HttpUpstream>,
    ) -> Result<Owned<'a>, ApiError> {
        if !self.upstreams.keep_state() {
            return Ok(Owned::HERE);
        }
        if let Some(entry) = self.store.ledgers().entry(&caller.tenant, id).await? {
            return self.kept_upstream(id, entry);
        }
        if self.is_kept_here(caller, id).await? {
            return Ok(Owned::HERE);
        }
        Ok(match asked.filter(|http| self.may_ask(http, id)) {
            Some(http) => Owned { owner: Owner::Upstream(http), ledger: None },
            None => Owned::HERE,
        })
    }

    fn kept_upstream(&self, id: &str, entry: LedgerEntry) -> Result<Owned<'_>, ApiError> {
        let keeper = self.upstreams.at(&entry.upstream);
        let keeper = keeper.ok_or_else(|| kept_nowhere(id, &entry.upstream))?;
        Ok(Owned { owner: Owner::Upstream(keeper), ledger: Some(entry) })
    }

    /// Whether the store has it, or will have it at the end of a turn that is open.
    async fn is_kept_here(&self, caller: &Caller, id: &str) -> Result<bool, ApiError> {
        let (store, tenant) = (&self.store, &caller.tenant);
        if let Some(id) = ConversationId::parse(id) {
            return Ok(store.conversation(tenant, &id).await?.is_some());
        }
        let Some(id) = ResponseId::parse(id) else { return Ok(false) };
        // It may have ended between the first two.
        Ok(store.response(tenant, &id).await?.is_some()
            || store.is_open(tenant, &id).await?
            || store.response(tenant, &id).await?.is_some())
    }

    /// Whether an upstream may be asked for what nobody has heard of here.
    fn may_ask(&self, http: &HttpUpstream, id: &str) -> bool {
        let is_kept_there = !id.starts_with("conv_") || http.keeps_conversations();
        is_kept_there && is_plain(id) && !self.is_shared(http)
    }
}

impl Upstreams {
    /// Whether any keeps what is begun with its models.
    fn keep_state(&self) -> bool {
        self.all().iter().any(keeps)
    }

    /// The one that takes what names no model, if it keeps what is begun there.
    pub(super) fn keeping(&self) -> Option<&HttpUpstream> {
        self.of_api(false).filter(|http| keeps(http))
    }

    /// The one at this base URL: of several, one that keeps what is begun there.
    fn at(&self, base: &str) -> Option<&HttpUpstream> {
        let mut there = self.all().iter().filter(|http| http.base() == base);
        there.clone().find(|http| keeps(http)).or_else(|| there.next())
    }
}

fn keeps(http: &HttpUpstream) -> bool {
    http.state() == State::Upstream
}

/// Whether a text may be an id of a provider's. One that is anything else to a path or a query than the
/// letters that it has names nothing, and is asked of nobody.
pub(crate) fn is_plain(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~:=+@".contains(&byte);
    !id.is_empty() && id.len() <= LONGEST && !id.starts_with('.') && id.bytes().all(is_plain)
}

/// More characters than any provider's ids have.
const LONGEST: usize = 512;

fn kept_nowhere(id: &str, upstream: &str) -> ApiError {
    ApiError::not_found(format!(
        "'{id}' is kept by {upstream}, which is no upstream of this gateway any more (--upstream)."
    ))
}
