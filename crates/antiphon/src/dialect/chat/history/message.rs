//! One message as items.

use super::content::{self, Said};
use super::{Decoder, Flaw, reasoning, string};
use crate::dialect::chat::fields::{Fields, array};
use crate::item::Kind;
use crate::json::{Object, unquote};

impl Decoder<'_> {
    /// Instructions, or what the user said.
    pub(super) fn said(&mut self, role: &str, message: &Object<'_>) -> Result<(), Flaw> {
        let content = content::of(message.present("content"), Said::ByCaller)?;
        let mut item = Fields::with_type("message");
        self.push(item.string("role", role).raw("content", &content).json())
    }

    /// What the model thought, said and called.
    pub(super) fn assistant(&mut self, message: &Object<'_>) -> Result<(), Flaw> {
        if message.present("audio").is_some() {
            return Err(Flaw::new(".audio", "what was said aloud is not kept in the message"));
        }
        let thought = reasoning::item(message, self.origin);
        let called = self.called(message)?;
        let parts = spoken(message)?;
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

    /// The output of a call.
    pub(super) fn tool(&mut self, message: &Object<'_>) -> Result<(), Flaw> {
        let call_id = string(message, "tool_call_id", "")?;
        let kind = self.calls.output_kind(&unquote(call_id).unwrap_or_default());
        self.output(&kind, call_id, message)
    }

    /// The output of a function in the older form, which names it.
    pub(super) fn function(&mut self, message: &Object<'_>) -> Result<(), Flaw> {
        let name = unquote(string(message, "name", "")?).unwrap_or_default();
        let Some(call_id) = self.calls.function(&name) else {
            return Err(Flaw::new(".name", "no 'function_call' before it has this name"));
        };
        self.output(&Kind::FunctionCallOutput, &crate::json::quote(&call_id), message)
    }

    fn output(&mut self, kind: &Kind, call_id: &str, message: &Object<'_>) -> Result<(), Flaw> {
        let output = content::of(message.present("content"), Said::ByCaller)?;
        let mut item = Fields::with_type(kind.as_str());
        self.push(item.raw("call_id", call_id).raw("output", &output).json())
    }
}

/// What the model said, as parts. An empty text beside something else says nothing.
fn spoken(message: &Object<'_>) -> Result<Vec<String>, Flaw> {
    let mut parts = content::parts(message.present("content"), Said::ByModel)?;
    if message.present("refusal").is_some() {
        let refusal = string(message, "refusal", "")?;
        parts.push(Fields::with_type("refusal").raw("refusal", refusal).json());
    }
    Ok(parts)
}
