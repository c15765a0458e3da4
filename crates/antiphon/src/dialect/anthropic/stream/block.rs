//! Content blocks of all types, and the state that they share.

use std::collections::HashSet;

use serde::de::IgnoredAny;

use super::calls::{Call, Calls};
use super::text::{Messages, Text, is_nonempty_string};
use super::thinking::Thinking;
use crate::dialect::RequestContext;
use crate::json::{Object, quote, unquote};
use crate::stream::Assembler;

/// A block that has started.
#[derive(Debug)]
pub(super) enum Block {
    Text(Text),
    Thinking(Thinking),
    Call(Call),
    Extension(Extension),
}

impl Block {
    /// Starts a block with its initial content. `raw` is the text of `block`. Returns `None` if the
    /// block cannot have deltas.
    pub(super) fn start(
        block: &Object<'_>,
        raw: &str,
        context: &mut Context,
        assembler: &mut Assembler,
    ) -> Option<Self> {
        let kind = block.string("type").unwrap_or_default();
        if kind != "text" {
            context.messages.end_current(assembler);
        }
        match &*kind {
            "text" => Some(Self::Text(Text::start(block, context, assembler))),
            "thinking" => Some(Self::Thinking(Thinking::start(block, raw, context, assembler))),
            "redacted_thinking" => {
                Thinking::emit_redacted(raw, context, assembler);
                None
            }
            "tool_use" => Some(Self::Call(Call::start(block, context, assembler))),
            "" => {
                assembler.leave_out("a content block without a type");
                None
            }
            kind => Some(Self::Extension(Extension::start(kind, raw, context, assembler))),
        }
    }

    /// The start event that a delta implies if the server did not send one.
    pub(super) fn implied_start(delta: &Object<'_>) -> Option<&'static str> {
        match delta.string("type").as_deref() {
            Some("text_delta") => Some(r#"{"type":"text"}"#),
            Some("thinking_delta") => Some(r#"{"type":"thinking"}"#),
            _ => None,
        }
    }

    /// Whether a `content_block_start` with this block repeats the start of this one.
    pub(super) fn is_repeated_by(&self, block: &Object<'_>) -> bool {
        let kind = block.string("type").unwrap_or_default();
        match self {
            Self::Text(_) => kind == "text",
            Self::Thinking(_) => kind == "thinking",
            Self::Call(call) => kind == "tool_use" && call.has_key_of(block),
            Self::Extension(extension) => extension.is_of_type(&kind),
        }
    }

    /// Applies a delta. Leaves it out if its type does not fit the block.
    pub(super) fn apply_delta(
        &mut self,
        delta: &Object<'_>,
        context: &mut Context,
        assembler: &mut Assembler,
    ) {
        let kind = delta.string("type").unwrap_or_default();
        let raw = |key| delta.get(key).unwrap_or(r#""""#);
        match (&*kind, self) {
            ("text_delta", Self::Text(text)) => text.append(raw("text"), context, assembler),
            ("citations_delta", Self::Text(text)) => {
                text.add_citations(delta.present("citation").into_iter());
            }
            ("thinking_delta", Self::Thinking(it)) => it.append(raw("thinking"), assembler),
            ("signature_delta", Self::Thinking(it)) => it.set_signature(raw("signature")),
            ("input_json_delta", Self::Call(call)) => {
                call.append_input(raw("partial_json"), context, assembler);
            }
            ("input_json_delta", Self::Extension(it)) => it.append_input(raw("partial_json")),
            _ => context.leave_out_delta(delta, "of that content block", assembler),
        }
    }

    /// Whether a token limit may have cut the block short.
    pub(super) fn may_be_cut_short(&self) -> bool {
        match self {
            Self::Text(_) | Self::Extension(_) => false,
            Self::Thinking(thinking) => !thinking.is_signed(),
            Self::Call(call) => !call.is_whole(),
        }
    }

    /// Ends the block, whose content is complete.
    pub(super) fn end(self, context: &mut Context, assembler: &mut Assembler) {
        match self {
            Self::Text(text) => text.end(context, assembler),
            Self::Thinking(thinking) => thinking.end(context, assembler),
            Self::Call(call) => context.calls.end(call, assembler),
            Self::Extension(extension) => extension.end(assembler),
        }
    }
}

/// The maximum of delta types to report. Anthropic documents fewer.
const MAX_KINDS: usize = 32;

/// The state of an answer that its blocks share.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) request: RequestContext,
    pub(super) messages: Messages,
    pub(super) calls: Calls,
    next_item: u64,
    /// The delta types that were left out. Each is reported once.
    left_out: HashSet<String>,
}

impl Context {
    pub(super) fn new(context: RequestContext) -> Self {
        Self {
            request: context,
            messages: Messages::default(),
            calls: Calls::default(),
            next_item: 0,
            left_out: HashSet::new(),
        }
    }

    /// The index of a new item for the assembler. Block indexes cannot serve for this, because some
    /// servers use an index twice.
    pub(super) fn new_item(&mut self) -> u64 {
        self.next_item += 1;
        self.next_item - 1
    }

    /// Leaves out a delta whose type is unknown or does not fit its block.
    pub(super) fn leave_out_delta(
        &mut self,
        delta: &Object<'_>,
        why: &str,
        assembler: &mut Assembler,
    ) {
        let kind = delta.string("type").unwrap_or_default();
        if self.left_out.len() < MAX_KINDS && !self.left_out.contains(&*kind) {
            assembler.leave_out(format!("delta '{kind}' {why}"));
            self.left_out.insert(kind.into_owned());
        }
    }
}

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
