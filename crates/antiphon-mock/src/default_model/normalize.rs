//! Converts requests of any API for the model.

use std::borrow::Cow;

use serde_json::Value;

use super::transcript::text_of;
use super::{anthropic, chat};
use crate::Api;

/// Converts a request into the Responses API's form: the conversation as `input` items and the
/// tools as functions. A request of the Responses API stays as it is.
///
/// The result is for reading only; it lacks everything except the conversation.
pub fn normalize(api: Api, request: &Value) -> Cow<'_, Value> {
    match api {
        Api::Responses => Cow::Borrowed(request),
        Api::Chat => Cow::Owned(chat::read(request)),
        Api::Anthropic => Cow::Owned(anthropic::read(request)),
    }
}

/// The text of instructions; null if there are none.
pub(super) fn instructions(content: &Value) -> Value {
    if content.is_null() { Value::Null } else { text_of(content).into() }
}

/// The request without its null fields.
pub(super) fn present(mut request: Value) -> Value {
    if let Some(fields) = request.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    request
}
