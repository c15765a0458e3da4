//! Converts one message into items.

use super::content::{self, Author};
use super::{Decoder, Flaw, string};
use crate::dialect::chat::fields::{Fields, array};
use crate::dialect::{Dialect, Seal};
use crate::item::Kind;
use crate::json::{Object, quote, unquote};
use crate::transcript::Origin;

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
        let thought = reasoning_item(message, self.origin);
        let called = self.convert_calls(message)?;
        let parts = text_parts(message)?;
        let is_empty = thought.is_none() && called.is_empty();
        if let Some(thought) = thought {
            self.push(thought)?;
        }
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

/// The fields for reasoning. Servers use different ones.
const REASONING_FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// The reasoning item of an assistant message: its text, and, with an `origin`, all its reasoning
/// fields, sealed.
fn reasoning_item(message: &Object<'_>, origin: Option<&Origin>) -> Option<String> {
    let is_nonempty = |raw: &&str| !matches!(*raw, r#""""# | "[]");
    let fields = REASONING_FIELDS
        .iter()
        .filter_map(|name| Some((*name, message.present(name).filter(is_nonempty)?)));
    let fields: Vec<(&str, &str)> = fields.collect();
    if fields.is_empty() {
        return None;
    }
    let mut item = Fields::with_type("reasoning");
    item.raw("summary", "[]");
    if let Some((_, text)) = fields.iter().find(|(_, raw)| raw.starts_with('"')) {
        let part = Fields::with_type("reasoning_text").raw("text", text).json();
        item.raw("content", &array([part]));
    }
    if let Some(origin) = origin {
        let content = Fields::new().all(fields.iter().copied()).json();
        let seal = Seal { dialect: Dialect::Chat, origin: origin.clone(), content };
        item.raw("encrypted_content", &quote(&seal.to_text()));
    }
    Some(item.json())
}
