//! The thinking block.

use super::block::Context;
use super::text::is_nonempty_string;
use crate::dialect::{Dialect, Seal};
use crate::json::{Object, quote};
use crate::stream::{Assembler, DeltaKind};

/// A thinking block. Its text is streamed as reasoning. The whole block is sealed if it has a
/// signature, because Anthropic accepts only signed blocks in the next request.
#[derive(Debug)]
pub(super) struct Thinking {
    item: u64,
    /// The block as it started, raw.
    block: String,
    /// Its text, escaped.
    thinking: String,
    /// The raw signature; empty if there is none.
    signature: String,
}

impl Thinking {
    pub(super) fn start(
        block: &Object<'_>,
        raw: &str,
        context: &mut Context,
        assembler: &mut Assembler,
    ) -> Self {
        let item = announce(context, assembler);
        let (thinking, signature) = (String::new(), String::new());
        let mut started = Self { item, block: raw.to_owned(), thinking, signature };
        started.append(block.get("thinking").unwrap_or(r#""""#), assembler);
        started.set_signature(block.get("signature").unwrap_or(r#""""#));
        started
    }

    /// Emits a block that only its provider can read, as reasoning without text.
    pub(super) fn emit_redacted(raw: &str, context: &mut Context, assembler: &mut Assembler) {
        let item = announce(context, assembler);
        end(item, raw.to_owned(), context, assembler);
    }

    /// Appends a piece of the text: a raw JSON string.
    pub(super) fn append(&mut self, raw: &str, assembler: &mut Assembler) {
        if is_nonempty_string(raw) {
            assembler.delta(self.item, DeltaKind::Reasoning, 0, raw);
            self.thinking.push_str(&raw[1..raw.len() - 1]);
        }
    }

    /// Sets the signature, a raw JSON string. It arrives in one piece; the last one counts, as in
    /// Anthropic's own clients.
    pub(super) fn set_signature(&mut self, raw: &str) {
        if is_nonempty_string(raw) {
            raw.clone_into(&mut self.signature);
        }
    }

    pub(super) fn is_signed(&self) -> bool {
        !self.signature.is_empty()
    }

    pub(super) fn end(self, context: &Context, assembler: &mut Assembler) {
        if !self.is_signed() {
            return assembler.close_item(self.item);
        }
        let mut block = Object::parse(self.block.as_bytes()).expect("it was an object");
        block.set("thinking", format!("\"{}\"", self.thinking));
        block.set("signature", self.signature);
        end(self.item, block.to_text(), context, assembler);
    }
}

fn announce(context: &mut Context, assembler: &mut Assembler) -> u64 {
    let item = context.new_item();
    let fields = [("type", r#""reasoning""#), ("summary", "[]")];
    assembler.announce_item(item, &Object::from_iter(fields));
    item
}

/// Ends the reasoning with the sealed block, which the next request returns to the provider.
fn end(item: u64, block: String, context: &Context, assembler: &mut Assembler) {
    let origin = context.request.origin.clone();
    let seal = Seal { dialect: Dialect::Anthropic, origin, content: block };
    let sealed = quote(&seal.to_text());
    let fields = [("type", r#""reasoning""#), ("encrypted_content", &*sealed)];
    assembler.end_item(item, &Object::from_iter(fields));
}
