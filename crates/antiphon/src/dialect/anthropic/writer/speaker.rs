//! What becomes of one output item's events.

use super::block::{Delta, ToolIds, citation_of, held_block, tool_use};
use super::line::{Line, Place};
use super::number;
use super::seal::Sealed;
use crate::json::{Object, quote};

/// An output item, by how it speaks in blocks.
#[derive(Debug)]
pub(super) enum Speaker {
    /// Every part is a block.
    Message,
    /// One block. `part`: which part of the item was told last.
    Reasoning {
        part: Option<Part>,
    },
    FunctionCall,
    /// A call whose input is a text, which has to become JSON.
    CustomCall,
    /// A block that is told when it is whole.
    Extension,
    /// Nothing that a message can hold.
    Mute,
}

/// A part of reasoning: of its summary or of its content, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    is_summary: bool,
    index: usize,
}

/// The blocks as they start.
pub(super) const TEXT: &str = r#"{"type":"text","text":""}"#;
const THINKING: &str = r#"{"type":"thinking","thinking":"","signature":""}"#;

/// What stands between two parts of reasoning, as a raw JSON string.
const BETWEEN_PARTS: &str = r#""\n\n""#;

impl Speaker {
    /// An item is announced at this position of the output.
    pub(super) fn announced(
        at: usize,
        item: &Object<'_>,
        tools: &mut ToolIds,
        line: &mut Line,
    ) -> Self {
        let place = Place { item: at, block: 0 };
        match item.string("type").as_deref() {
            Some("message") => Self::Message,
            Some("reasoning") => Self::Reasoning { part: None },
            Some("function_call") => {
                line.start(place, &tool_use(item, tools, "{}"));
                Self::FunctionCall
            }
            Some("custom_tool_call") => {
                line.start(place, &tool_use(item, tools, "{}"));
                line.say(place, Delta::Input, &quote(r#"{"input":""#));
                Self::CustomCall
            }
            Some(kind) if kind.starts_with("anthropic:") => Self::Extension,
            _ => Self::Mute,
        }
    }

    /// Takes an event of the item.
    pub(super) fn hear(&mut self, at: usize, kind: &str, event: &Object<'_>, line: &mut Line) {
        if kind == "response.output_item.done" {
            let item = event.object("item").unwrap_or_default();
            self.end(at, &item, line);
            line.end_item(at);
            return;
        }
        match self {
            Self::Message => hear_part(at, kind, event, line),
            Self::Reasoning { part } => hear_reasoning(at, part, kind, event, line),
            Self::FunctionCall | Self::CustomCall => hear_call(at, kind, event, line),
            Self::Extension | Self::Mute => {}
        }
    }

    fn end(&self, at: usize, item: &Object<'_>, line: &mut Line) {
        let place = Place { item: at, block: 0 };
        match self {
            Self::Reasoning { .. } => end_reasoning(place, item, line),
            Self::CustomCall => line.say(place, Delta::Input, &quote(r#""}"#)),
            Self::Extension => {
                if let Some(block) = held_block(item) {
                    tell_whole(place, &block, line);
                }
            }
            Self::Message | Self::FunctionCall | Self::Mute => {}
        }
    }
}

fn hear_part(at: usize, kind: &str, event: &Object<'_>, line: &mut Line) {
    let place = Place { item: at, block: number(event, "content_index").unwrap_or(0) };
    match kind {
        "response.output_text.delta" | "response.refusal.delta" => {
            if let Some(raw) = event.get("delta").filter(|raw| raw.len() > 2) {
                line.start(place, TEXT);
                line.say(place, Delta::Text, raw);
            }
        }
        "response.output_text.annotation.added" => {
            let annotation = event.object("annotation").unwrap_or_default();
            if let Some(citation) = citation_of(&annotation) {
                line.start(place, TEXT);
                line.say(place, Delta::Citation, &citation);
            }
        }
        "response.content_part.done" => line.stop(place),
        _ => {}
    }
}

fn hear_reasoning(
    at: usize,
    last: &mut Option<Part>,
    kind: &str,
    event: &Object<'_>,
    line: &mut Line,
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
    let place = Place { item: at, block: 0 };
    line.start(place, THINKING);
    if last.replace(part).is_some_and(|last| last != part) {
        line.say(place, Delta::Thinking, BETWEEN_PARTS);
    }
    line.say(place, Delta::Thinking, raw);
}

/// The pieces of a custom call's text go into a string within JSON: they are escaped once more.
fn hear_call(at: usize, kind: &str, event: &Object<'_>, line: &mut Line) {
    let Some(raw) = event.get("delta").filter(|raw| raw.len() > 2) else { return };
    let place = Place { item: at, block: 0 };
    match kind {
        "response.function_call_arguments.delta" => line.say(place, Delta::Input, raw),
        "response.custom_tool_call_input.delta" => {
            line.say(place, Delta::Input, &quote(&raw[1..raw.len() - 1]));
        }
        _ => {}
    }
}

fn end_reasoning(place: Place, item: &Object<'_>, line: &mut Line) {
    match Sealed::of(item) {
        Sealed::Nothing => {}
        Sealed::Signature(signature) => {
            line.start(place, THINKING);
            line.say(place, Delta::Signature, &signature);
        }
        Sealed::Redacted(block) => {
            let has_spoken = line.has_started(place);
            line.start(Place { block: usize::from(has_spoken), ..place }, &block);
        }
    }
}

/// A block that comes whole. Calls of servers' tools start without their input and tell it then, as
/// Anthropic streams them.
fn tell_whole(place: Place, block: &str, line: &mut Line) {
    let mut start = Object::parse(block.as_bytes()).unwrap_or_default();
    let is_call = start.string("type").is_some_and(|kind| kind.ends_with("tool_use"));
    let input = start.get("input").filter(|input| is_call && *input != "{}").map(str::to_owned);
    match input {
        None => line.start(place, block),
        Some(input) => {
            start.set("input", "{}");
            line.start(place, &start.to_text());
            line.say(place, Delta::Input, &quote(&input));
        }
    }
}
