//! Writes the events of one output item.

use super::block::{Delta, Sealed, ToolIds, citation_json, extension_block, tool_use};
use super::block_queue::{BlockPosition, BlockQueue};
use super::number;
use crate::dialect::item_form::ItemForm;
use crate::json::{Object, quote};
use crate::transcript::Origin;

/// The writer of one output item, by the type of the item.
#[derive(Debug)]
pub(super) enum ItemWriter {
    /// Every part becomes a block.
    Message,
    /// The item becomes one block. `part` is the part of the last delta.
    Reasoning {
        part: Option<Part>,
    },
    FunctionCall,
    /// A call with a text as its input, which is wrapped in JSON.
    CustomCall,
    /// The block is written when it is complete.
    Extension,
    /// The item has no block in a message.
    Omitted,
}

/// A part of the summary or of the content of reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    is_summary: bool,
    index: usize,
}

/// The blocks of start events.
pub(super) const TEXT: &str = r#"{"type":"text","text":""}"#;
const THINKING: &str = r#"{"type":"thinking","thinking":"","signature":""}"#;

/// The separator between two parts of reasoning, as a raw JSON string.
const BETWEEN_PARTS: &str = r#""\n\n""#;

impl ItemWriter {
    /// The writer for an item that is announced at this position of the output.
    pub(super) fn new(
        at: usize,
        item: &Object<'_>,
        tools: &mut ToolIds,
        queue: &mut BlockQueue,
    ) -> Self {
        let position = BlockPosition { item: at, block: 0 };
        match ItemForm::from_object(item) {
            ItemForm::Message => Self::Message,
            ItemForm::Reasoning => Self::Reasoning { part: None },
            ItemForm::FunctionCall => {
                queue.start(position, &tool_use(item, tools, "{}"));
                Self::FunctionCall
            }
            ItemForm::CustomCall => {
                queue.start(position, &tool_use(item, tools, "{}"));
                queue.delta(position, Delta::Input, &quote(r#"{"input":""#));
                Self::CustomCall
            }
            ItemForm::Extension => Self::Extension,
            ItemForm::Output | ItemForm::ProviderRecord | ItemForm::Unsupported => Self::Omitted,
        }
    }

    /// Writes an event of the item, which `origin` created.
    pub(super) fn write(
        &mut self,
        at: usize,
        kind: &str,
        event: &Object<'_>,
        origin: Option<&Origin>,
        queue: &mut BlockQueue,
    ) {
        if kind == "response.output_item.done" {
            let item = event.object("item").unwrap_or_default();
            self.end(at, &item, origin, queue);
            queue.end_item(at);
            return;
        }
        match self {
            Self::Message => write_part(at, kind, event, queue),
            Self::Reasoning { part } => write_reasoning(at, part, kind, event, queue),
            Self::FunctionCall | Self::CustomCall => write_call(at, kind, event, queue),
            Self::Extension | Self::Omitted => {}
        }
    }

    fn end(&self, at: usize, item: &Object<'_>, origin: Option<&Origin>, queue: &mut BlockQueue) {
        let position = BlockPosition { item: at, block: 0 };
        match self {
            Self::Reasoning { .. } => {
                end_reasoning(position, Sealed::from_item(item, origin), queue);
            }
            Self::CustomCall => queue.delta(position, Delta::Input, &quote(r#""}"#)),
            Self::Extension => {
                if let Some(block) = extension_block(item) {
                    write_whole_block(position, &block, queue);
                }
            }
            Self::Message | Self::FunctionCall | Self::Omitted => {}
        }
    }
}

fn write_part(at: usize, kind: &str, event: &Object<'_>, queue: &mut BlockQueue) {
    let position = BlockPosition { item: at, block: number(event, "content_index").unwrap_or(0) };
    match kind {
        "response.output_text.delta" | "response.refusal.delta" => {
            if let Some(raw) = event.get("delta").filter(|raw| raw.len() > 2) {
                queue.start(position, TEXT);
                queue.delta(position, Delta::Text, raw);
            }
        }
        "response.output_text.annotation.added" => {
            let annotation = event.object("annotation").unwrap_or_default();
            if let Some(citation) = citation_json(&annotation) {
                queue.start(position, TEXT);
                queue.delta(position, Delta::Citation, &citation);
            }
        }
        "response.content_part.done" => queue.stop(position),
        _ => {}
    }
}

fn write_reasoning(
    at: usize,
    last: &mut Option<Part>,
    kind: &str,
    event: &Object<'_>,
    queue: &mut BlockQueue,
) {
    let part = match kind {
        "response.reasoning_text.delta" | "response.reasoning.delta" => {
            Part { is_summary: false, index: number(event, "content_index").unwrap_or(0) }
        }
        "response.reasoning_summary_text.delta" => {
            Part { is_summary: true, index: number(event, "summary_index").unwrap_or(0) }
        }
        _ => return,
    };
    let Some(raw) = event.get("delta").filter(|raw| raw.len() > 2) else { return };
    let position = BlockPosition { item: at, block: 0 };
    queue.start(position, THINKING);
    if last.replace(part).is_some_and(|last| last != part) {
        queue.delta(position, Delta::Thinking, BETWEEN_PARTS);
    }
    queue.delta(position, Delta::Thinking, raw);
}

/// Writes a delta of a call. The text of a custom call is in a string within JSON: it is escaped
/// twice.
fn write_call(at: usize, kind: &str, event: &Object<'_>, queue: &mut BlockQueue) {
    let Some(raw) = event.get("delta").filter(|raw| raw.len() > 2) else { return };
    let position = BlockPosition { item: at, block: 0 };
    match kind {
        "response.function_call_arguments.delta" => queue.delta(position, Delta::Input, raw),
        "response.custom_tool_call_input.delta" => {
            queue.delta(position, Delta::Input, &quote(&raw[1..raw.len() - 1]));
        }
        _ => {}
    }
}

fn end_reasoning(position: BlockPosition, sealed: Sealed, queue: &mut BlockQueue) {
    match sealed {
        Sealed::Nothing => {}
        Sealed::Signature(signature) => {
            queue.start(position, THINKING);
            queue.delta(position, Delta::Signature, &signature);
        }
        Sealed::Redacted(block) => {
            let has_text = queue.is_open(position);
            queue.start(BlockPosition { block: usize::from(has_text), ..position }, &block);
        }
    }
}

/// Writes a complete block. A server tool call starts without its input and sends it as a delta, as
/// in Anthropic's streams.
fn write_whole_block(position: BlockPosition, block: &str, queue: &mut BlockQueue) {
    let mut start = Object::parse(block.as_bytes()).unwrap_or_default();
    let is_call = start.string("type").is_some_and(|kind| kind.ends_with("tool_use"));
    let input = start.get("input").filter(|input| is_call && *input != "{}").map(str::to_owned);
    match input {
        None => queue.start(position, block),
        Some(input) => {
            start.set("input", "{}");
            queue.start(position, &start.to_text());
            queue.delta(position, Delta::Input, &quote(&input));
        }
    }
}
