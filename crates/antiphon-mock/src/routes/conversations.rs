//! `/v1/conversations`.

use serde_json::{Value, json};

use super::items;
use super::route_request::RouteRequest;
use crate::Refusal;
use crate::account::Conversation;
use crate::request::metadata;

/// The creation time of every object: a constant, so that tests do not depend on the clock.
const CREATED_AT: u64 = 1_760_000_000;

pub(super) fn create(request: &RouteRequest<'_>) -> Result<Value, Refusal> {
    let body = request.json_or_nothing()?;
    metadata(&body["metadata"])?;
    let mut world = request.shared.world();
    let (account, ids) = world.account(&request.token);
    let items = items::store(&body, account, ids, request.shared.options.is_strict())?;
    account.register_items(&items);
    let metadata = if body["metadata"].is_null() { json!({}) } else { body["metadata"].clone() };
    let conversation = Conversation::new(ids.next("conv"), CREATED_AT, metadata, items);
    let object = conversation.object();
    account.add_conversation(conversation);
    Ok(object)
}

pub(super) fn retrieve(request: &RouteRequest<'_>, id: &str) -> Result<Value, Refusal> {
    let mut world = request.shared.world();
    let (account, _) = world.account(&request.token);
    account.conversation(id).map(Conversation::object)
}

pub(super) fn update(request: &RouteRequest<'_>, id: &str) -> Result<Value, Refusal> {
    let body = request.json()?;
    let mut world = request.shared.world();
    let (account, _) = world.account(&request.token);
    let conversation = account.conversation_mut(id)?;
    if body["metadata"].is_null() {
        return Err(Refusal::missing_parameter("metadata"));
    }
    metadata(&body["metadata"])?;
    conversation.set_metadata(body["metadata"].clone());
    Ok(conversation.object())
}

pub(super) fn delete(request: &RouteRequest<'_>, id: &str) -> Result<Value, Refusal> {
    let mut world = request.shared.world();
    let (account, _) = world.account(&request.token);
    account.remove_conversation(id)?;
    Ok(json!({"id": id, "object": "conversation.deleted", "deleted": true}))
}
