//! A request of any API, as the model reads it.

use std::borrow::Cow;

use serde_json::Value;

use super::transcript::text_of;
use super::{anthropic, chat};
use crate::Api;

/// The request in the Responses API's form: what the model is given as `input` items, its tools as
/// functions. One of the Responses API is that already.
///
/// It is for reading only: nothing that a server needs beyond the conversation is in it.
pub fn read(api: Api, request: &Value) -> Cow<'_, Value> {
    match api {
        Api::Responses => Cow::Borrowed(request),
        Api::Chat => Cow::Owned(chat::read(request)),
        Api::Anthropic => Cow::Owned(anthropic::read(request)),
    }
}

/// The text of instructions; null where there are none.
pub(super) fn instructions(content: &Value) -> Value {
    if content.is_null() { Value::Null } else { text_of(content).into() }
}

/// The request without fields that are null.
pub(super) fn present(mut request: Value) -> Value {
    if let Some(fields) = request.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    request
}
