//! Content blocks of all types.

use super::call::Call;
use super::context::Context;
use super::extension::Extension;
use super::text::Text;
use super::thinking::Thinking;
use crate::json::Object;
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
