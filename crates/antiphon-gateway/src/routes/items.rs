//! `/v1/conversations/{id}/items`

use std::sync::Arc;

use antiphon::faults::{Fault, Refusal};
use antiphon::item::IdSource;
use antiphon::json::Object;
use antiphon::{HeldItem, ItemId};
use antiphon_store::{ListScope, StoreError, Usage};
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;

use super::conversations::{find, parse_conversation_id, show_conversation};
use super::extract::{Body, Path};
use super::json_in_chunks;
use super::paging::ListQuery;
use crate::caller::Caller;
use crate::compaction::check_compactions;
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::item_json::{item_chunks, list_chunks};
use crate::request::{check_stored_item, items, parse_object, wrong_type};
use crate::turn::{Incoming, resolve};

/// The maximum number of items to add in one request.
const MAX_ITEMS: usize = 20;

/// `GET /v1/conversations/{id}/items`
pub(super) async fn list(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(id): Path<String>,
    query: ListQuery,
) -> Result<Response, ApiError> {
    let scope = ListScope::Conversation(parse_conversation_id(&gateway, &id)?);
    let listing = gateway.store.list_items(&caller.tenant, &scope, &query.page).await?;
    let listing = listing.ok_or_else(|| gateway.conversation_not_found(&id))?;
    Ok(json_in_chunks(list_chunks(&listing.items, listing.has_more, query.encrypted)))
}

/// `POST /v1/conversations/{id}/items`
pub(super) async fn create(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(text): Path<String>,
    query: ListQuery,
    Body(body): Body,
) -> Result<Response, ApiError> {
    let fields = parse_object(&body)?;
    if fields.present("items").is_none() {
        return Err(ApiError::MissingParameter { name: "items".into() });
    }
    let id = parse_conversation_id(&gateway, &text)?;
    find(&gateway, &caller, &text).await?;
    let added = parse_new_items(&gateway, &caller, &body, &fields).await?;
    // The lease excludes other writers, so the conversation's quota is exact.
    let _lease = gateway.owners(&caller).binding_of(&id).lease_for_items().await?;
    gateway.quotas().check_added(&caller.tenant, Some(&id), Usage::from_items(&added)).await?;
    match gateway.store.append_items(&caller.tenant, &id, added.clone()).await {
        Err(StoreError::ConversationNotFound) => Err(gateway.conversation_not_found(&text)),
        other => {
            other.map_err(|error| in_items(error.into()))?;
            Ok(json_in_chunks(list_chunks(&added, false, query.encrypted)))
        }
    }
}

/// `GET /v1/conversations/{id}/items/{item_id}`
pub(super) async fn show(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path((text, item_id)): Path<(String, String)>,
    query: ListQuery,
) -> Result<Response, ApiError> {
    let id = parse_conversation_id(&gateway, &text)?;
    find(&gateway, &caller, &text).await?;
    let item = gateway.store.item(&caller.tenant, &id, &ItemId::from(&*item_id)).await?;
    let item = item.ok_or(ApiError::ItemNotFound { id: item_id })?;
    Ok(json_in_chunks(item_chunks(&item, query.encrypted)))
}

/// `DELETE /v1/conversations/{id}/items/{item_id}`
pub(super) async fn delete(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path((text, item_id)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let id = parse_conversation_id(&gateway, &text)?;
    let _lease = gateway.owners(&caller).binding_of(&id).lease_for_items().await?;
    let conversation = find(&gateway, &caller, &text).await?;
    match gateway.store.delete_item(&caller.tenant, &id, &ItemId::from(&*item_id)).await? {
        true => Ok(show_conversation(&conversation)),
        false => Err(ApiError::ItemNotFound { id: item_id }),
    }
}

/// Parses the items of a body and prepares them for storage: each has its own id or gets a new one.
/// Rejects a duplicate id.
pub(super) async fn parse_new_items(
    gateway: &Gateway,
    caller: &Caller,
    body: &Bytes,
    fields: &Object<'_>,
) -> Result<Vec<HeldItem>, ApiError> {
    let Some(raw) = fields.present("items") else {
        return Ok(Vec::new());
    };
    if !raw.starts_with('[') {
        return Err(wrong_type("items", "an array", raw));
    }
    let limits = &gateway.settings.limits;
    let items = items(&body.slice_ref(raw.as_bytes()), "items", limits)?;
    items
        .iter()
        .enumerate()
        .try_for_each(|(position, item)| check_stored_item(&format!("items[{position}]"), item))?;
    check_compactions(&items, "items", &gateway.compaction_key, &caller.tenant)?;
    if items.len() > MAX_ITEMS {
        return Err(ApiError::ArrayTooLong {
            path: "items".into(),
            maximum: MAX_ITEMS,
            length: items.len(),
        });
    }
    let items = resolve(&*gateway.store, &caller.tenant, None, items).await.map_err(in_items)?;
    let held: Vec<HeldItem> = items.into_iter().map(|item| to_held_item(gateway, item)).collect();
    let mut seen = std::collections::HashSet::new();
    match held.iter().find(|item| !seen.insert(&item.id)) {
        Some(item) => Err(in_items(Fault::DuplicateItem { id: item.id.clone() }.refusal(0).into())),
        None => Ok(held),
    }
}

/// The error for items in the field `items`, in place of the `input` of a turn.
fn in_items(error: ApiError) -> ApiError {
    match error {
        ApiError::RefusedItems(refusal) => {
            ApiError::RefusedItems(Refusal { param: Some("items".into()), ..refusal })
        }
        other => other,
    }
}

fn to_held_item(gateway: &Gateway, Incoming { item, origin, .. }: Incoming) -> HeldItem {
    let id = item.head().id.clone();
    let id = id.unwrap_or_else(|| RandomIds.issue(item.head().kind.id_prefix()).into());
    HeldItem::new(id, &item, gateway.fingerprint_key, origin)
}
