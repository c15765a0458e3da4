//! The provider's error for each fault.

use super::provider_error::ProviderError;
use super::{Fault, MAX_ID_LENGTH, has_valid_characters};
use crate::item::Kind;

/// An error response of a provider: the fields of its `error` object and the HTTP status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The fault that the error reports.
    pub fault: Box<Fault>,
    /// The HTTP status.
    pub status: u16,
    /// `error.code`
    pub code: Option<&'static str>,
    /// `error.param`
    pub param: Option<String>,
    /// `error.message`
    pub message: String,
}

impl Fault {
    /// The provider's error for the fault in the item at `position` of the input. The texts come
    /// from the catalogue `provider_errors.json`.
    pub fn refusal(&self, position: usize) -> Refusal {
        let build_refusal =
            |name: &str, values: &[(&str, &str)]| ProviderError::find(name).refusal(self, values);
        let call_refusal = |name, kind: &Kind, call_id| {
            // The provider's texts contain the kind in words: `function call output`.
            let kind = kind.as_str().replace('_', " ");
            build_refusal(name, &[("kind", &kind), ("call_id", call_id)])
        };
        let param = |field: &str| format!("input[{position}].{field}");
        let call_id_param = |kind: &Kind| param(kind.call_id_field().name(true));
        match self {
            Self::DuplicateItem { id } => build_refusal("duplicate_item", &[("id", id.as_str())]),
            Self::DuplicateCall { kind, call_id, .. } => {
                call_refusal("duplicate_call", kind, call_id.as_str())
            }
            Self::DuplicateOutput { kind, call_id } => {
                call_refusal("duplicate_output", kind, call_id.as_str())
            }
            Self::UnansweredCall { kind, call_id } => {
                call_refusal("unanswered_call", kind, call_id.as_str())
            }
            Self::OutputWithoutCall { kind, call_id } => {
                let call_id = call_id.as_ref().map_or("", |id| id.as_str());
                call_refusal("output_without_call", kind, call_id)
            }
            Self::LoneReasoning { id } => {
                let id = id.as_ref().map_or("", |id| id.as_str());
                build_refusal("lone_reasoning", &[("id", id)])
            }
            Self::MissingReasoning { id, kind, reasoning } => {
                let (id, reasoning) = (id.as_str(), reasoning.as_str());
                let values = [("id", id), ("kind", kind.as_str()), ("reasoning", reasoning)];
                build_refusal("missing_reasoning", &values)
            }
            Self::ForeignContent { content, .. } => {
                build_refusal("foreign_content", &[("content", content)])
            }
            Self::UnresolvedReference { id } => {
                build_refusal("unresolved_reference", &[("id", id.as_str())])
            }
            Self::MalformedId { id, prefix } => {
                self.malformed_id_refusal(&param("id"), id.as_str(), prefix)
            }
            Self::OverlongId { id } => self.overlong_refusal(&param("id"), id.as_str()),
            Self::OverlongCallId { kind, call_id } => {
                self.overlong_refusal(&call_id_param(kind), call_id.as_str())
            }
            Self::EmptyCallId { kind } => {
                build_refusal("empty_string", &[("param", &call_id_param(kind))])
            }
            Self::MissingId { .. } => {
                build_refusal("missing_parameter", &[("param", &param("id"))])
            }
            Self::MissingCallId { kind } => {
                let field = kind.call_id_field().name(false);
                build_refusal("missing_parameter", &[("param", &param(field))])
            }
        }
    }

    fn malformed_id_refusal(&self, param: &str, id: &str, prefix: &str) -> Refusal {
        let is_valid = has_valid_characters(id);
        let name = if is_valid { "wrong_id_prefix" } else { "wrong_id_characters" };
        let values = [("param", param), ("id", id), ("prefix", prefix)];
        ProviderError::find(name).refusal(self, &values)
    }

    fn overlong_refusal(&self, param: &str, value: &str) -> Refusal {
        let (maximum, length) = (MAX_ID_LENGTH.to_string(), value.chars().count().to_string());
        let values = [("param", param), ("maximum", &*maximum), ("length", &*length)];
        ProviderError::find("string_too_long").refusal(self, &values)
    }
}
