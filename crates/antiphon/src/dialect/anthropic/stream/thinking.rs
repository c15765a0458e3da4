//! A thinking block.

use super::context::Context;
use super::text::speaks;
use crate::dialect::{Dialect, Seal};
use crate::json::{Object, quote};
use crate::stream::{Assembler, Spoken};

/// A thinking block: reasoning whose text is told, and whose block as a whole is sealed where it is
/// signed. Anthropic signs what it wants back, and refuses what it did not sign.
#[derive(Debug)]
pub(super) struct Thinking {
    item: u64,
    /// The block as it started, raw.
    block: String,
    /// Its text, escaped.
    thinking: String,
    /// Its signature, raw; empty where it has none.
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
        started.think(block.get("thinking").unwrap_or(r#""""#), assembler);
        started.sign(block.get("signature").unwrap_or(r#""""#));
        started
    }

    /// A block whose thinking nobody but its maker can read: reasoning that says nothing.
    pub(super) fn redacted(raw: &str, context: &mut Context, assembler: &mut Assembler) {
        let item = announce(context, assembler);
        end(item, raw.to_owned(), context, assembler);
    }

    /// Takes a piece of the text: a raw JSON string.
    pub(super) fn think(&mut self, raw: &str, assembler: &mut Assembler) {
        if speaks(raw) {
            assembler.delta(self.item, Spoken::Reasoning, 0, raw);
            self.thinking.push_str(&raw[1..raw.len() - 1]);
        }
    }

    /// Takes the signature, a raw JSON string. It comes in one piece: the last one counts, as it does
    /// for Anthropic's own clients.
    pub(super) fn sign(&mut self, raw: &str) {
        if speaks(raw) {
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

/// The reasoning ends, with the block that its maker wants back.
fn end(item: u64, block: String, context: &Context, assembler: &mut Assembler) {
    let origin = context.asked.origin.clone();
    let seal = Seal { dialect: Dialect::Anthropic, origin, content: block };
    let sealed = quote(&seal.to_text());
    let fields = [("type", r#""reasoning""#), ("encrypted_content", &*sealed)];
    assembler.end_item(item, &Object::from_iter(fields));
}
