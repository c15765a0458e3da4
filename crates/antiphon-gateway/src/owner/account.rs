//! Accounts that several tenants share: to each of them exists what it began there, and nothing else.

use antiphon::faults::Fault;
use antiphon::json::Object;
use antiphon::{Item, ItemId, Kind};
use bytes::Bytes;

use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::request::{CreateRequest, items};
use crate::turn::is_bare_reasoning;
use crate::upstream::HttpUpstream;

impl Gateway {
    /// Whether several tenants share one account with this upstream: it is shown a key of the operator's
    /// and cannot tell them apart.
    pub(crate) fn is_shared(&self, upstream: &HttpUpstream) -> bool {
        upstream.has_own_key() && !self.authenticator.has_one_tenant()
    }

    /// Refuses a request whose items, under `key` in its body, name others that are not the tenant's own
    /// where several share the account.
    pub(crate) async fn check_named(
        &self,
        caller: &Caller,
        upstream: &HttpUpstream,
        body: &Bytes,
        key: &str,
    ) -> Result<(), ApiError> {
        if !self.is_shared(upstream) || body.is_empty() {
            return Ok(());
        }
        let fields = Object::parse(body).map_err(|_| ApiError::not_json())?;
        check_keys(&fields)?;
        let Some(raw) = fields.present(key).filter(|raw| raw.starts_with('[')) else {
            return Ok(());
        };
        let items = items(&body.slice_ref(raw.as_bytes()), key, &self.settings.limits)?;
        self.check_references(caller, upstream, &items).await
    }

    /// The same of a turn.
    pub(crate) async fn check_turn(
        &self,
        caller: &Caller,
        upstream: &HttpUpstream,
        request: &CreateRequest,
    ) -> Result<(), ApiError> {
        if self.is_shared(upstream) {
            check_keys(&request.object())?;
        }
        self.check_references(caller, upstream, &request.input).await
    }

    /// Refuses items that stand for others by their ids, as references do and reasoning without content,
    /// which are not the tenant's own where several share the account. It is the provider's refusal of
    /// what it does not have.
    async fn check_references(
        &self,
        caller: &Caller,
        upstream: &HttpUpstream,
        items: &[Item],
    ) -> Result<(), ApiError> {
        if !self.is_shared(upstream) {
            return Ok(());
        }
        items.iter().try_for_each(|item| check_keys(&item.object()))?;
        let named: Vec<ItemId> = items.iter().filter_map(stands_for).cloned().collect();
        let held = self.store.ledgers().made(&caller.tenant, &named).await?;
        let is_foreign = |item: &Item| stands_for(item).is_some_and(|id| !held.contains(id));
        match items.iter().position(is_foreign) {
            Some(position) => {
                let id = stands_for(&items[position]).expect("it is foreign").clone();
                Err(Fault::UnresolvedReference { id }.refusal(position).into())
            }
            None => Ok(()),
        }
    }
}

/// The id that is all there is of an item.
fn stands_for(item: &Item) -> Option<&ItemId> {
    let is_reference = item.head().kind == Kind::ItemReference;
    item.head().id.as_ref().filter(|_| is_reference || is_bare_reasoning(item))
}

/// Refuses an object that says a thing twice: a server that counts another of the two, or reads keys in
/// letters of either case, would not do what was checked.
fn check_keys(object: &Object<'_>) -> Result<(), ApiError> {
    let mut seen = std::collections::HashSet::new();
    match object.iter().find(|(key, _)| !seen.insert(key.to_uppercase())) {
        Some((key, _)) => Err(ApiError::invalid(format!("The key '{key}' stands twice."))
            .code("invalid_value")
            .param(key)),
        None => Ok(()),
    }
}
