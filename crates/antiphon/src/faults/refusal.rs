//! The provider's own words for each fault.

use super::{Fault, MAX_ID_LENGTH};
use crate::item::Kind;

/// An error as a provider answers it: the fields of its `error` object and the HTTP status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// `error.code`
    pub code: Option<&'static str>,
    /// `error.param`
    pub param: Option<String>,
    /// `error.message`
    pub message: String,
}

impl Refusal {
    fn of_input(message: String) -> Self {
        Self { status: 400, code: None, param: Some("input".into()), message }
    }

    fn of_field(code: &'static str, position: usize, field: &str, rest: &str) -> Self {
        let param = format!("input[{position}].{field}");
        Self {
            code: Some(code),
            message: format!("Invalid '{param}': {rest}"),
            param: Some(param),
            status: 400,
        }
    }

    fn overlong(position: usize, field: &str, value: &str) -> Self {
        let length = value.chars().count();
        let rest = format!(
            "string too long. Expected a string with maximum length {MAX_ID_LENGTH}, but got a \
             string with length {length} instead."
        );
        Self::of_field("string_above_max_length", position, field, &rest)
    }

    fn missing(position: usize, field: &str) -> Self {
        let param = format!("input[{position}].{field}");
        Self {
            code: Some("missing_required_parameter"),
            message: format!("Missing required parameter: '{param}'."),
            param: Some(param),
            status: 400,
        }
    }
}

impl Fault {
    /// How a provider refuses the fault in the item at `position` of its input.
    ///
    /// Texts are as recorded from OpenAI's API. None is recorded for a second output, a second call
    /// of one `call_id`, a call without one, and pairs other than functions: theirs are worded like
    /// their neighbours.
    pub fn refusal(&self, position: usize) -> Refusal {
        match self {
            Self::DuplicateItem { id } => Refusal::of_input(duplicate(id.as_str())),
            Self::DuplicateCall { call_id, .. } | Self::DuplicateOutput { call_id, .. } => {
                Refusal::of_input(duplicate(call_id.as_str()))
            }
            Self::UnansweredCall { kind, call_id } => {
                let kind = words(kind);
                Refusal::of_input(format!("No tool output found for {kind} {call_id}."))
            }
            Self::OutputWithoutCall { kind, call_id } => {
                let kind = words(kind);
                let call_id = call_id.as_ref().map_or("", |id| id.as_str());
                Refusal::of_input(format!("No tool call found for {kind} with call_id {call_id}."))
            }
            Self::LoneReasoning { id } => {
                let id = id.as_ref().map_or("", |id| id.as_str());
                Refusal::of_input(format!(
                    "Item '{id}' of type 'reasoning' was provided without its required following \
                     item."
                ))
            }
            Self::MissingReasoning { id, kind, reasoning } => Refusal::of_input(format!(
                "Item '{id}' of type '{kind}' was provided without its required 'reasoning' item: \
                 '{reasoning}'."
            )),
            Self::ForeignContent { content, .. } => Refusal {
                status: 400,
                code: Some("invalid_encrypted_content"),
                param: None,
                message: format!("The encrypted content {content} could not be verified."),
            },
            Self::UnresolvedReference { id } => Refusal {
                status: 404,
                ..Refusal::of_input(format!(
                    "Item with id '{id}' not found. Items are not persisted when `store` is set \
                     to false. Try again with `store` set to true, or remove this item from your \
                     input."
                ))
            },
            Self::MalformedId { id, prefix } => {
                let rest = malformed(id.as_str(), prefix);
                Refusal::of_field("invalid_value", position, "id", &rest)
            }
            Self::OverlongId { id } => Refusal::overlong(position, "id", id.as_str()),
            Self::OverlongCallId { call_id, .. } => {
                Refusal::overlong(position, "call_id", call_id.as_str())
            }
            Self::EmptyCallId { .. } => {
                Refusal::of_field("empty_string", position, "call_id", EMPTY)
            }
            Self::MissingCallId { .. } => Refusal::missing(position, "call_id"),
        }
    }
}

const EMPTY: &str = "empty string. Expected a string with minimum length 1, but got an empty \
                     string instead.";

fn duplicate(id: &str) -> String {
    format!(
        "Duplicate item found with id {id}. Remove duplicate items from your input and try again."
    )
}

fn malformed(id: &str, prefix: &str) -> String {
    if id.starts_with(prefix) {
        return format!(
            "'{id}'. Expected an ID that contains letters, numbers, underscores, or dashes, but \
             this value contained additional characters."
        );
    }
    format!("'{id}'. Expected an ID that begins with '{prefix}'.")
}

/// A kind as the provider's sentences name it: `function call output`.
fn words(kind: &Kind) -> String {
    kind.as_str().replace('_', " ")
}
