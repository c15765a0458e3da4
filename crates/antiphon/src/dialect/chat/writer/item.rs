//! One output item.

use super::Options;
use super::calls::{CallEntries, CallEntry};
use super::chunk::TextField;
use super::logprobs::logprobs;
use super::text_queue::Piece;
use crate::dialect::item_form::ItemForm;
use crate::json::Object;

/// An output item, by its form in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputItem {
    Message,
    Reasoning,
    Call(CallEntry),
    /// The item has no form in a message.
    Omitted,
}

impl OutputItem {
    /// The form of an announced item.
    pub(super) fn new(item: &Object<'_>, calls: &mut CallEntries, options: Options) -> Self {
        match ItemForm::from_object(item) {
            ItemForm::Message => Self::Message,
            ItemForm::Reasoning => Self::Reasoning,
            ItemForm::FunctionCall if options.is_legacy => match calls.add(item) {
                0 => Self::Call(CallEntry::Legacy),
                _ => Self::Omitted,
            },
            ItemForm::FunctionCall => Self::Call(CallEntry::Function(calls.add(item))),
            ItemForm::CustomCall => Self::Call(CallEntry::Custom(calls.add(item))),
            ItemForm::Output
            | ItemForm::ProviderRecord
            | ItemForm::Extension
            | ItemForm::Unsupported => Self::Omitted,
        }
    }

    /// The delta with a piece of the call's input; `None` if the event has none.
    pub(super) fn fragment(self, kind: &str, raw: &str) -> Option<String> {
        let Self::Call(entry) = self else { return None };
        match (entry, kind) {
            (CallEntry::Function(index), "response.function_call_arguments.delta") => {
                Some(format!(
                    r#"{{"tool_calls":[{{"index":{index},"function":{{"arguments":{raw}}}}}]}}"#
                ))
            }
            (CallEntry::Custom(index), "response.custom_tool_call_input.delta") => Some(format!(
                r#"{{"tool_calls":[{{"index":{index},"custom":{{"input":{raw}}}}}]}}"#
            )),
            (CallEntry::Legacy, "response.function_call_arguments.delta") => {
                Some(format!(r#"{{"function_call":{{"arguments":{raw}}}}}"#))
            }
            _ => None,
        }
    }

    /// The piece of text in an event of the item, and its field; `None` if the event has none.
    /// `raw` is its delta.
    pub(super) fn piece<'a>(
        self,
        kind: &str,
        event: &'a Object<'_>,
        raw: &'a str,
    ) -> Option<(TextField, Piece<'a>)> {
        let part = |key| event.get(key).and_then(|raw| raw.parse().ok()).unwrap_or(0_usize);
        let (field, part) = match (self, kind) {
            (Self::Message, "response.output_text.delta") => (TextField::Content, 0),
            (Self::Message, "response.refusal.delta") => (TextField::Refusal, 0),
            (Self::Reasoning, "response.reasoning_summary_text.delta") => {
                (TextField::Reasoning, 2 * part("summary_index"))
            }
            (Self::Reasoning, "response.reasoning_text.delta" | "response.reasoning.delta") => {
                (TextField::Reasoning, 2 * part("content_index") + 1)
            }
            _ => return None,
        };
        Some((field, Piece { text: raw.into(), logprobs: logprobs(event).into(), part }))
    }
}
