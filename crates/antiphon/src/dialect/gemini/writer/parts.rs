//! Writes the parts of a content.

use super::piece_queue::Piece;
use crate::dialect::anthropic::{ToolIds, input_json};
use crate::dialect::gemini::signature;
use crate::dialect::item_form::ItemForm;
use crate::json::{Object, quote};
use crate::transcript::Origin;

/// Writes the parts of one answer, in order. The sealed reasoning before a part is its signature.
#[derive(Debug)]
pub(super) struct PartWriter {
    origin: Origin,
    /// Whether the client asks for the text of the reasoning.
    includes_thoughts: bool,
    tools: ToolIds,
    /// The sealed reasoning since the last part.
    seals: Vec<String>,
}

impl PartWriter {
    pub(super) fn new(origin: Origin, includes_thoughts: bool) -> Self {
        Self { origin, includes_thoughts, tools: ToolIds::default(), seals: Vec::new() }
    }

    /// The raw part for a piece; `None` if it has none of its own.
    pub(super) fn write(&mut self, piece: &Piece) -> Option<String> {
        match piece {
            Piece::Text(raw) => Some(self.signed(&format!(r#""text":{raw}"#))),
            Piece::Thought(raw) if self.includes_thoughts => {
                Some(format!(r#"{{"text":{raw},"thought":true}}"#))
            }
            Piece::Thought(_) => None,
            Piece::Call(item) => Some(self.call(&Object::parse_str(item).unwrap_or_default())),
            Piece::Reasoning(item) => {
                let item = Object::parse_str(item).unwrap_or_default();
                self.seals.extend(signature::seal(&item, &self.origin));
                None
            }
        }
    }

    /// A part with the reasoning that no part followed.
    pub(super) fn rest(&mut self) -> Option<String> {
        (!self.seals.is_empty()).then(|| self.signed(r#""text":"""#))
    }

    fn call(&mut self, call: &Object<'_>) -> String {
        let id = quote(&self.tools.assign(call));
        let name = call.get("name").unwrap_or(r#""""#);
        let arguments = match ItemForm::from_object(call) {
            ItemForm::CustomCall => {
                format!(r#"{{"input":{}}}"#, call.present("input").unwrap_or(r#""""#))
            }
            _ => input_json(call.get("arguments").unwrap_or(r#""""#)),
        };
        self.signed(&format!(r#""functionCall":{{"id":{id},"name":{name},"args":{arguments}}}"#))
    }

    /// The part with these fields, and with the signature.
    fn signed(&mut self, fields: &str) -> String {
        let seals = std::mem::take(&mut self.seals);
        if seals.is_empty() {
            return format!("{{{fields}}}");
        }
        format!(r#"{{{fields},"thoughtSignature":"{}"}}"#, signature::encode(&seals))
    }
}
