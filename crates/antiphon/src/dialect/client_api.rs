//! The APIs of clients that have no state: each request contains the whole conversation.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::request::Omission;
use super::{UpstreamApi, Writer, anthropic, chat, gemini};
use crate::faults::Refusal;
use crate::item::{Item, Kind};
use crate::json::Object;
use crate::transcript::Origin;

/// An API of clients besides the Responses API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClientApi {
    /// Chat Completions.
    Chat,
    /// Anthropic's Messages API.
    Anthropic,
    /// Google's Gemini API.
    Gemini,
}

/// A request of such a client, as a request of the Responses API.
#[derive(Clone, Debug)]
pub struct DecodedRequest {
    /// The fields of the Responses API as a JSON object, without `input`.
    pub fields: String,
    /// The whole conversation.
    pub items: Vec<Item>,
    /// The parts that the Responses API cannot carry and the model can do without.
    pub omissions: Vec<Omission>,
    /// The call ids that the client left out, and that were derived from the items before the call.
    /// [`adopt_call_ids`](crate::reconcile::adopt_call_ids) replaces those of stored calls.
    pub derived_call_ids: BTreeSet<String>,
}

/// The error for a request that does not have the form of its API, or that asks for something
/// which the Responses API cannot carry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InvalidRequest {
    /// The path of the field, in the form of the API. Empty if no field is wrong.
    pub path: String,
    /// A sentence that names the field.
    pub message: String,
    /// The kind of the error.
    pub kind: InvalidRequestKind,
}

/// The kinds of errors that have a `code` of their own in OpenAI's APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidRequestKind {
    /// A field that the API requires is missing.
    MissingParameter,
    /// A value has another type.
    WrongType,
    /// An array is empty.
    EmptyArray,
    /// An integer is too small.
    IntegerBelowMinimum,
    /// Any other value that the API does not take.
    InvalidValue,
}

impl InvalidRequestKind {
    /// The `code` of OpenAI's error.
    pub fn code(self) -> &'static str {
        match self {
            Self::MissingParameter => "missing_required_parameter",
            Self::WrongType => "invalid_type",
            Self::EmptyArray => "empty_array",
            Self::IntegerBelowMinimum => "integer_below_min_value",
            Self::InvalidValue => "invalid_value",
        }
    }
}

impl InvalidRequest {
    /// The error for a field that is missing.
    pub fn missing(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(InvalidRequestKind::MissingParameter, path, message)
    }

    /// The error for a value of another type.
    pub fn wrong_type(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(InvalidRequestKind::WrongType, path, message)
    }

    /// The error for an invalid value.
    pub fn invalid_value(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(InvalidRequestKind::InvalidValue, path, message)
    }

    pub(super) fn new(
        kind: InvalidRequestKind,
        path: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self { path: path.into(), message: message.into(), kind }
    }
}

/// A fault of a request in its own API, which the encoder of that API repairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFault {
    /// The name of the fault in reports.
    pub name: &'static str,
    /// The name of the repair in reports; `None` if the encoder reports the repair itself.
    pub action: Option<&'static str>,
    /// The kind of the item with the fault.
    pub kind: Kind,
    /// The provider's message for the fault.
    pub message: String,
}

impl ClientApi {
    /// Every API.
    pub const ALL: [Self; 3] = [Self::Chat, Self::Anthropic, Self::Gemini];

    /// The API of upstreams that understand such requests unchanged; `None` if no upstream does.
    pub fn upstream_api(self) -> Option<UpstreamApi> {
        match self {
            Self::Chat => Some(UpstreamApi::Chat),
            Self::Anthropic => Some(UpstreamApi::Anthropic),
            Self::Gemini => None,
        }
    }

    /// Converts a request. `origin` is the upstream and model that will answer: it receives the
    /// reasoning of the history that has no other origin. `upstream` is the upstream's API: if it
    /// is the client's, fields that the Responses API does not have stay unchanged. A request of
    /// the Gemini API needs two fields that its client sends in the path: `model` and `stream`.
    pub fn decode_request(
        self,
        request: &Object<'_>,
        upstream: UpstreamApi,
        origin: &Origin,
    ) -> Result<DecodedRequest, InvalidRequest> {
        match self {
            Self::Chat => chat::decode_request(request, upstream, origin),
            Self::Anthropic => anthropic::decode_request(request, upstream, origin),
            Self::Gemini => gemini::decode_request(request, upstream, origin),
        }
    }

    /// The faults of a request for which a server of its API rejects it, and that its items do not
    /// show. None if no upstream has the API.
    pub fn find_faults(self, request: &Object<'_>) -> Vec<ClientFault> {
        match self {
            Self::Chat => chat::find_faults(request),
            Self::Anthropic => anthropic::find_faults(request),
            Self::Gemini => Vec::new(),
        }
    }

    /// Rewrites an error about an item of the decoded request as the error of a server of this API
    /// about the messages of `request`. An error without a counterpart stays the same.
    pub fn reword(self, request: &Object<'_>, refusal: Refusal) -> Refusal {
        match self {
            Self::Chat => chat::reword(request, refusal),
            Self::Anthropic => anthropic::reword(request, refusal),
            Self::Gemini => gemini::reword(refusal),
        }
    }

    /// A writer of answers of `origin`. `request` is the client's request, which may ask for parts
    /// of the answer.
    pub fn writer(self, request: &Object<'_>, origin: Origin) -> Writer {
        match self {
            Self::Chat => Writer::Chat(Box::new(chat::ChatWriter::new(request, origin))),
            Self::Anthropic => Writer::Anthropic(anthropic::AnthropicWriter::new(Some(origin))),
            Self::Gemini => Writer::Gemini(Box::new(gemini::GeminiWriter::new(request, origin))),
        }
    }
}

impl DecodedRequest {
    /// The body of the request, with these fields instead of its own of the same name. Values are
    /// raw JSON.
    pub fn to_body(&self, changed: &[(&str, &str)]) -> Bytes {
        let mut fields = Object::parse_str(&self.fields).expect("a decoder wrote it");
        for (key, raw) in changed {
            fields.set(*key, *raw);
        }
        let items: Vec<_> = self.items.iter().map(|item| str_of(item.raw())).collect();
        fields.set("input", format!("[{}]", items.join(",")));
        fields.to_bytes()
    }
}

fn str_of(raw: &Bytes) -> &str {
    str::from_utf8(raw).expect("items are UTF-8")
}
