//! The provider's refusals: one constructor for each, with the provider's text.

mod anthropic;
mod catalogue;
mod chat;
mod stateful;

use http::StatusCode;
use serde_json::{Value, json};

use crate::{Api, digest};

const INVALID_REQUEST: &str = "invalid_request_error";

/// A refusal: the status and the fields of the error body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The API that refuses. It determines the form of the error body.
    pub api: Api,
    /// The HTTP status.
    pub status: StatusCode,
    /// The error's `type`.
    pub kind: &'static str,
    /// The parameter at fault, with the path of an item: `input[3].id`.
    pub param: Option<String>,
    /// The machine-readable code, if the provider has one.
    pub code: Option<&'static str>,
    /// The error text.
    pub message: String,
}

impl Refusal {
    /// The error body: `{"error": {"message", "type", "param", "code"}}`, or for Anthropic
    /// `{"type": "error", "error": {"type", "message"}, "request_id"}`.
    pub fn body(&self) -> Value {
        match self.api {
            Api::Responses | Api::Chat => self.openai_body(),
            Api::Anthropic => self.anthropic_body(),
        }
    }

    fn openai_body(&self) -> Value {
        json!({"error": {
            "message": self.message,
            "type": self.kind,
            "param": self.param,
            "code": self.code,
        }})
    }

    fn anthropic_body(&self) -> Value {
        let request_id = format!("req_{}", &digest::hex(&["request", &self.message])[..24]);
        let error = json!({"type": self.kind, "message": self.message});
        json!({"type": "error", "error": error, "request_id": request_id})
    }

    /// The refusal of the Responses API with this name, with `values` for the placeholders of its
    /// text. `None` if there is no such refusal, or a placeholder has no value.
    ///
    /// ```
    /// let refusal = antiphon_mock::Refusal::named("response_not_found", &[("id", "resp_1")]);
    /// assert_eq!(refusal.unwrap().message, "Response with id 'resp_1' not found.");
    /// ```
    pub fn named(name: &str, values: &[(&str, &str)]) -> Option<Self> {
        catalogue::find(name, values)
    }

    /// All names that [`Refusal::named`] accepts.
    pub fn names() -> impl Iterator<Item = &'static str> {
        catalogue::names()
    }

    /// A refusal with status 400 in the Responses API's form.
    pub fn bad_request(param: Option<&str>, code: Option<&'static str>, message: String) -> Self {
        Self {
            api: Api::Responses,
            status: StatusCode::BAD_REQUEST,
            kind: INVALID_REQUEST,
            param: param.map(str::to_owned),
            code,
            message,
        }
    }

    /// A refusal of the input as a whole.
    pub fn for_input(message: String) -> Self {
        Self::bad_request(Some("input"), None, message)
    }
}

/// The request as a whole.
impl Refusal {
    /// The body is not JSON.
    pub fn invalid_json() -> Self {
        catalogue::refusal("invalid_json", &[])
    }

    /// The URL does not exist.
    pub fn unknown_url(method: &http::Method, path: &str) -> Self {
        catalogue::refusal("unknown_url", &[("method", method.as_str()), ("path", path)])
    }

    /// A required parameter is missing.
    pub fn missing_parameter(param: &str) -> Self {
        catalogue::refusal("missing_parameter", &[("param", param)])
    }

    /// The request has no input.
    pub fn missing_input() -> Self {
        catalogue::refusal("missing_input", &[])
    }

    /// A parameter has the wrong JSON type. `expected` includes its article.
    pub fn wrong_type(param: &str, expected: &str, got: &Value) -> Self {
        let values = [("param", param), ("expected", expected), ("got", json_type(got))];
        catalogue::refusal("wrong_type", &values)
    }

    pub(crate) fn storage_asked_for() -> Self {
        let message = "This upstream keeps no state: 'store' must be false.";
        Self::bad_request(Some("store"), None, message.to_owned())
    }

    pub(crate) fn state_referred_to(param: &str) -> Self {
        let message = format!("This upstream keeps no state: '{param}' must be left out.");
        Self::bad_request(Some(param), None, message)
    }

    pub(crate) fn encrypted_reasoning_not_included() -> Self {
        let message = "This upstream keeps no state: 'include' must contain \
            'reasoning.encrypted_content'.";
        Self::bad_request(Some("include"), None, message.to_owned())
    }

    /// The model does not reason, so it has no content to encrypt.
    pub fn encrypted_reasoning_unsupported() -> Self {
        catalogue::refusal("encrypted_reasoning_unsupported", &[])
    }
}

/// The form of ids.
impl Refusal {
    pub(crate) fn empty_string(param: &str) -> Self {
        catalogue::refusal("empty_string", &[("param", param)])
    }

    /// A string is too long.
    pub fn too_long(param: &str, maximum: usize, length: usize) -> Self {
        let (maximum, length) = (maximum.to_string(), length.to_string());
        let values = [("param", param), ("maximum", &*maximum), ("length", &*length)];
        catalogue::refusal("string_too_long", &values)
    }

    /// An id has the wrong prefix for its item type.
    pub fn wrong_prefix(param: &str, id: &str, prefix: &str) -> Self {
        let values = [("param", param), ("id", id), ("prefix", prefix)];
        catalogue::refusal("wrong_id_prefix", &values)
    }

    pub(crate) fn wrong_characters(param: &str, id: &str) -> Self {
        catalogue::refusal("wrong_id_characters", &[("param", param), ("id", id)])
    }
}

/// Relations between items.
impl Refusal {
    /// A reference names an item that is not stored.
    pub fn item_not_found(id: &str) -> Self {
        catalogue::refusal("unresolved_reference", &[("id", id)])
    }

    /// Encrypted content is invalid. The text shows its first and last four characters.
    pub(crate) fn encrypted_content(sealed: &str, reason: &str) -> Self {
        let first: String = sealed.chars().take(4).collect();
        let last = sealed.char_indices().nth_back(3).map_or(sealed, |(at, _)| &sealed[at..]);
        let content = format!("{first}...{last}");
        let values = [("content", &*content), ("reason", reason)];
        catalogue::refusal("foreign_content_with_reason", &values)
    }

    /// An item occurs twice.
    pub fn duplicate_item(id: &str) -> Self {
        catalogue::refusal("duplicate_item", &[("id", id)])
    }

    /// A call has the `call_id` of an earlier one. `kind` is its type in words: `function call`.
    pub(crate) fn duplicate_call(kind: &str, call_id: &str) -> Self {
        catalogue::refusal("duplicate_call", &[("kind", kind), ("call_id", call_id)])
    }

    /// A call has two outputs. `kind` is the output's type in words.
    pub(crate) fn duplicate_output(kind: &str, call_id: &str) -> Self {
        catalogue::refusal("duplicate_output", &[("kind", kind), ("call_id", call_id)])
    }

    pub(crate) fn no_output_for(kind: &str, call_id: &str) -> Self {
        catalogue::refusal("unanswered_call", &[("kind", kind), ("call_id", call_id)])
    }

    pub(crate) fn no_call_for(kind: &str, call_id: &str) -> Self {
        catalogue::refusal("output_without_call", &[("kind", kind), ("call_id", call_id)])
    }

    pub(crate) fn lone_reasoning(id: &str) -> Self {
        catalogue::refusal("lone_reasoning", &[("id", id)])
    }

    /// An item lacks the reasoning that was issued with it.
    pub fn missing_reasoning(id: &str, kind: &str, reasoning: &str) -> Self {
        let values = [("id", id), ("kind", kind), ("reasoning", reasoning)];
        catalogue::refusal("missing_reasoning", &values)
    }
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a decimal",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
