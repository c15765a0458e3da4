//! Converts one message into items.

use super::content::{self, Author};
use super::{Decoder, Flaw, reasoning, string};
use crate::dialect::chat::fields::{Fields, array};
use crate::item::Kind;
use crate::json::{Object, unquote};

impl Decoder<'_> {
    /// Converts instructions or a user message.
    pub(super) fn message(&mut self, role: &str, message: &Object<'_>) -> Result<(), Flaw> {
        let content = content::convert(message.present("content"), Author::Client)?;
        let mut item = Fields::with_type("message");
        self.push(item.string("role", role).raw("content", &content).json())
    }

    /// Converts an assistant message into its reasoning, its text and its calls.
    pub(super) fn assistant(&mut self, message: &Object<'_>) -> Result<(), Flaw> {
        if message.present("audio").is_some() {
            return Err(Flaw::new(".audio", "an audio answer has no item in the Responses API"));
        }
        let thoughts = reasoning::items(message, self.origin);
        let called = self.convert_calls(message)?;
        let parts = text_parts(message)?;
        let is_empty = thoughts.is_empty() && called.is_empty();
        thoughts.into_iter().try_for_each(|thought| self.push(thought))?;
        if is_empty || !parts.is_empty() {
            let mut item = Fields::with_type("message");
            self.push(item.string("role", "assistant").raw("content", &array(&parts)).json())?;
        }
        called.into_iter().try_for_each(|call| self.push(call))
    }

    /// Converts the output of a call.
    pub(super) fn tool(&mut self, message: &Object<'_>) -> Result<(), Flaw> {
        let call_id = string(message, "tool_call_id", "")?;
        let kind = self.calls.output_kind(&unquote(call_id).unwrap_or_default());
        self.output(&kind, call_id, message)
    }

    /// Converts the output of a `function_call`, which it refers to by name.
    pub(super) fn function(&mut self, message: &Object<'_>) -> Result<(), Flaw> {
        let name = unquote(string(message, "name", "")?).unwrap_or_default();
        let Some(call_id) = self.calls.function(&name) else {
            return Err(Flaw::new(".name", "no earlier 'function_call' has this name"));
        };
        self.output(&Kind::FunctionCallOutput, &crate::json::quote(&call_id), message)
    }

    fn output(&mut self, kind: &Kind, call_id: &str, message: &Object<'_>) -> Result<(), Flaw> {
        let output = content::convert(message.present("content"), Author::Client)?;
        let mut item = Fields::with_type(kind.as_str());
        self.push(item.raw("call_id", call_id).raw("output", &output).json())
    }
}

/// The text and the refusal of an assistant message, as parts.
fn text_parts(message: &Object<'_>) -> Result<Vec<String>, Flaw> {
    let mut parts = content::parts(message.present("content"), Author::Model)?;
    if message.present("refusal").is_some() {
        let refusal = string(message, "refusal", "")?;
        parts.push(Fields::with_type("refusal").raw("refusal", refusal).json());
    }
    Ok(parts)
}
