//! The fields that make a request a full replay.

use serde_json::Value;

use super::item::Item;
use crate::Refusal;

const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";
/// Models with this prefix do not reason.
const PLAIN: &str = "plain-";

/// Whether `model` reasons, and so issues encrypted content.
pub fn reasons(model: &str) -> bool {
    !model.starts_with(PLAIN)
}

/// Whether the request includes the encrypted content of reasoning.
pub fn includes_encrypted_reasoning(body: &Value) -> bool {
    let include = body["include"].as_array().map(Vec::as_slice).unwrap_or_default();
    include.iter().any(|what| what == ENCRYPTED_REASONING)
}

pub(super) fn model(body: &Value) -> Result<&str, Refusal> {
    match &body["model"] {
        Value::Null => Err(Refusal::missing_parameter("model")),
        Value::String(model) => Ok(model),
        other => Err(Refusal::wrong_type("model", "a string", other)),
    }
}

/// The input's items. A string is one user message, so it has no items to check.
pub(super) fn items(body: &Value) -> Result<Vec<Item<'_>>, Refusal> {
    match &body["input"] {
        Value::Null => Err(Refusal::missing_input()),
        Value::String(_) => Ok(Vec::new()),
        Value::Array(items) if items.is_empty() => Err(Refusal::missing_input()),
        Value::Array(items) => items.iter().enumerate().map(Item::read).collect(),
        other => Err(Refusal::wrong_type("input", "a string or an array of objects", other)),
    }
}

/// The caller owns all state: the request must not store anything or refer to stored objects.
pub(super) fn full_replay(body: &Value) -> Result<(), Refusal> {
    if body["store"] != false {
        return Err(Refusal::storage_asked_for());
    }
    match ["conversation", "previous_response_id"].iter().find(|param| !body[**param].is_null()) {
        Some(param) => Err(Refusal::state_referred_to(param)),
        None => Ok(()),
    }
}

pub(super) fn encrypted_reasoning(body: &Value, model: &str) -> Result<(), Refusal> {
    match (reasons(model), includes_encrypted_reasoning(body)) {
        (true, false) => Err(Refusal::encrypted_reasoning_not_included()),
        (false, true) => Err(Refusal::encrypted_reasoning_unsupported()),
        _ => Ok(()),
    }
}
