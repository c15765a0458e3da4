//! Blocks that have no item in the Responses API.

use serde::de::IgnoredAny;

use super::context::Context;
use super::text::is_nonempty_string;
use crate::json::{Object, quote, unquote};
use crate::stream::Assembler;

/// A block of another type: a server tool call, its result, or a newer type. It becomes an item of
/// type `anthropic:<type>` with the raw block as its `content`.
#[derive(Debug)]
pub(super) struct Extension {
    item: u64,
    kind: String,
    /// The block as it started, raw.
    block: String,
    /// The input that arrived in deltas, still escaped.
    input: String,
}

impl Extension {
    pub(super) fn start(
        kind: &str,
        raw: &str,
        context: &mut Context,
        assembler: &mut Assembler,
    ) -> Self {
        let item = context.new_item();
        let (kind, block) = (kind.to_owned(), raw.to_owned());
        let extension = Self { item, kind, block, input: String::new() };
        let announced = extension.as_item("in_progress", raw);
        assembler.announce_item(item, &announced);
        extension
    }

    pub(super) fn is_of_type(&self, kind: &str) -> bool {
        self.kind == kind
    }

    /// Appends a piece of the input: a raw JSON string.
    pub(super) fn append_input(&mut self, raw: &str) {
        if is_nonempty_string(raw) {
            self.input.push_str(&raw[1..raw.len() - 1]);
        }
    }

    pub(super) fn end(self, assembler: &mut Assembler) {
        let mut block = Object::parse(self.block.as_bytes()).expect("it was an object");
        let input = unquote(&format!("\"{}\"", self.input)).unwrap_or_default().into_owned();
        if serde_json::from_str::<IgnoredAny>(&input).is_ok() {
            block.set("input", input);
        } else if !input.is_empty() {
            assembler.leave_out(format!("input of content block '{}' that is no JSON", self.kind));
        }
        assembler.end_item(self.item, &self.as_item("completed", &block.to_text()));
    }

    fn as_item(&self, status: &str, block: &str) -> Object<'static> {
        let mut item = Object::default();
        item.set("type", quote(&format!("anthropic:{}", self.kind)));
        item.set("status", quote(status));
        item.set("content", block.to_owned());
        item
    }
}
