//! One content block, whatever its type.

use super::call::Call;
use super::context::Context;
use super::extension::Extension;
use super::text::Text;
use super::thinking::Thinking;
use crate::json::Object;
use crate::stream::Assembler;

/// A block from its start on.
#[derive(Debug)]
pub(super) enum Block {
    Text(Text),
    Thinking(Thinking),
    Call(Call),
    Extension(Extension),
}

impl Block {
    /// A block starts, with all that it holds from the first. `raw` is `block` as it came. `None`
    /// where nothing can follow of it.
    pub(super) fn start(
        block: &Object<'_>,
        raw: &str,
        context: &mut Context,
        assembler: &mut Assembler,
    ) -> Option<Self> {
        let kind = block.string("type").unwrap_or_default();
        if kind != "text" {
            context.messages.something_else_begins(assembler);
        }
        match &*kind {
            "text" => Some(Self::Text(Text::start(block, context, assembler))),
            "thinking" => Some(Self::Thinking(Thinking::start(block, raw, context, assembler))),
            "redacted_thinking" => {
                Thinking::redacted(raw, context, assembler);
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

    /// The block that a piece of text begins by itself, where its start was never told.
    pub(super) fn begun_by(delta: &Object<'_>) -> Option<&'static str> {
        match delta.string("type").as_deref() {
            Some("text_delta") => Some(r#"{"type":"text"}"#),
            Some("thinking_delta") => Some(r#"{"type":"thinking"}"#),
            _ => None,
        }
    }

    /// Whether a `content_block_start` with this block tells of this one once more.
    pub(super) fn is_started_by(&self, block: &Object<'_>) -> bool {
        let kind = block.string("type").unwrap_or_default();
        match self {
            Self::Text(_) => kind == "text",
            Self::Thinking(_) => kind == "thinking",
            Self::Call(call) => kind == "tool_use" && call.is_named_by(block),
            Self::Extension(extension) => extension.is_of_type(&kind),
        }
    }

    /// Takes a delta. One of a type that this block does not know is left out.
    pub(super) fn hear(
        &mut self,
        delta: &Object<'_>,
        context: &mut Context,
        assembler: &mut Assembler,
    ) {
        let kind = delta.string("type").unwrap_or_default();
        let raw = |key| delta.get(key).unwrap_or(r#""""#);
        match (&*kind, self) {
            ("text_delta", Self::Text(text)) => text.say(raw("text"), context, assembler),
            ("citations_delta", Self::Text(text)) => {
                text.cite(delta.present("citation").into_iter());
            }
            ("thinking_delta", Self::Thinking(it)) => it.think(raw("thinking"), assembler),
            ("signature_delta", Self::Thinking(it)) => it.sign(raw("signature")),
            ("input_json_delta", Self::Call(call)) => {
                call.say(raw("partial_json"), context, assembler);
            }
            ("input_json_delta", Self::Extension(it)) => it.say(raw("partial_json")),
            _ => context.leave_out_delta(delta, "of that content block", assembler),
        }
    }

    /// Whether the model may have been cut short in it.
    pub(super) fn may_be_cut_short(&self) -> bool {
        match self {
            Self::Text(_) | Self::Extension(_) => false,
            Self::Thinking(thinking) => !thinking.is_signed(),
            Self::Call(call) => !call.is_whole(),
        }
    }

    /// The block was whole.
    pub(super) fn end(self, context: &mut Context, assembler: &mut Assembler) {
        match self {
            Self::Text(text) => text.end(context, assembler),
            Self::Thinking(thinking) => thinking.end(context, assembler),
            Self::Call(call) => context.calls.end(call, assembler),
            Self::Extension(extension) => extension.end(assembler),
        }
    }
}
