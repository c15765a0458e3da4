//! Access checks for upstream accounts that several tenants share. Each tenant can only use the
//! objects that it created.

use std::collections::HashSet;

use antiphon::faults::Fault;
use antiphon::json::Object;
use antiphon::{HeldItem, Item, ItemId, Kind};
use bytes::Bytes;

use super::StateOwners;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::request::{CreateRequest, is_bare_reasoning, items};
use crate::settings::State;
use crate::upstream::{HttpUpstream, Upstream};

impl Gateway {
    /// Whether several tenants share one account at this upstream: it receives a key of the
    /// operator and cannot distinguish them.
    pub(crate) fn is_shared(&self, upstream: &HttpUpstream) -> bool {
        upstream.has_own_key() && !self.authenticator.has_one_tenant()
    }
}

impl StateOwners<'_, '_> {
    /// Rejects a request with items of other tenants, if tenants share the account. The items are
    /// under `key` in the body.
    pub(crate) async fn check_named(
        self,
        upstream: &HttpUpstream,
        body: &Bytes,
        key: &str,
    ) -> Result<(), ApiError> {
        if !self.gateway.is_shared(upstream) || body.is_empty() {
            return Ok(());
        }
        let fields = Object::parse(body).map_err(|_| ApiError::NotJson)?;
        check_keys(&fields)?;
        let Some(raw) = fields.present(key).filter(|raw| raw.starts_with('[')) else {
            return Ok(());
        };
        let items = items(&body.slice_ref(raw.as_bytes()), key, &self.gateway.settings.limits)?;
        self.check_items(&items, referenced_id).await
    }

    /// The same check for a turn whose state its upstream does not own. The upstream may still
    /// store objects of other tenants. The gateway resolves references itself.
    pub(crate) async fn check_stateless(
        self,
        upstream: Upstream<'_>,
        request: &CreateRequest,
    ) -> Result<(), ApiError> {
        let Upstream::Http(http) = upstream else { return Ok(()) };
        if http.state() == State::Here || !self.gateway.is_shared(http) {
            return Ok(());
        }
        check_keys(&request.object())?;
        self.check_items(&request.input, |item| {
            referenced_id(item).filter(|_| item.head().kind == Kind::ImageGenerationCall)
        })
        .await
    }

    /// The same check for a turn.
    pub(crate) async fn check_turn(
        self,
        upstream: &HttpUpstream,
        request: &CreateRequest,
    ) -> Result<(), ApiError> {
        if !self.gateway.is_shared(upstream) {
            return Ok(());
        }
        check_keys(&request.object())?;
        self.check_items(&request.input, referenced_id).await
    }

    /// The same check for items that move from Antiphon to an upstream.
    pub(crate) async fn check_held(
        self,
        upstream: &HttpUpstream,
        held: &[HeldItem],
    ) -> Result<(), ApiError> {
        if !self.gateway.is_shared(upstream) {
            return Ok(());
        }
        let items: Vec<Item> = held.iter().filter_map(HeldItem::item).collect();
        self.check_items(&items, referenced_id).await
    }

    /// Rejects items that refer to objects of other tenants. `named` returns the id that an item
    /// refers to. The error is the provider's error for an unknown item.
    async fn check_items(
        self,
        items: &[Item],
        named: impl Fn(&Item) -> Option<&ItemId>,
    ) -> Result<(), ApiError> {
        items.iter().try_for_each(|item| check_keys(&item.object()))?;
        let ids: Vec<ItemId> = items.iter().filter_map(&named).cloned().collect();
        let held = self.gateway.store.ledgers().find_generated(&self.caller.tenant, &ids).await?;
        let foreign = items.iter().enumerate().find_map(|(position, item)| {
            named(item).filter(|id| !held.contains(id)).map(|id| (position, id.clone()))
        });
        match foreign {
            Some((position, id)) => Err(Fault::UnresolvedReference { id }.refusal(position).into()),
            None => Ok(()),
        }
    }
}

/// The id of an item that consists of its id only, such as a reference or reasoning without
/// content. Source: the provider's guide to images, in which a call without its result refers to
/// the image.
fn referenced_id(item: &Item) -> Option<&ItemId> {
    let is_named = match item.head().kind {
        Kind::ItemReference => true,
        Kind::ImageGenerationCall => item.object().present("result").is_none(),
        _ => is_bare_reasoning(item),
    };
    item.head().id.as_ref().filter(|_| is_named)
}

/// The keys that determine the continued state, and the kind or the id of an item.
const CHECKED_KEYS: [&str; 7] =
    ["conversation", "id", "input", "items", "previous_response_id", "store", "type"];

/// Rejects an object with a repeated key, or with one of these keys in another case. A server that
/// uses the other copy, or ignores the case of keys, would not process the data that was checked.
fn check_keys(object: &Object<'_>) -> Result<(), ApiError> {
    let mut seen = HashSet::new();
    for (key, _) in object.iter() {
        let read = key.to_uppercase();
        let meant = CHECKED_KEYS.into_iter().find(|key| key.to_uppercase() == read);
        if !seen.insert(read) {
            return Err(ApiError::RepeatedKey { key: key.into() });
        }
        if let Some(meant) = meant.filter(|meant| *meant != key) {
            return Err(ApiError::MisspelledKey { key: key.into(), expected: meant });
        }
    }
    Ok(())
}
