//! The events of an item that an upstream gave in one piece.

use super::emitter::{Emitter, Place};
use crate::item::{Item, Kind};
use crate::json::{Object, quote};

/// The item as it is announced: nothing said yet.
pub(super) fn announced(item: &Item) -> Item {
    item.with(|object| {
        match item.head().kind {
            Kind::Message => object.set("content", "[]"),
            Kind::Reasoning => {
                object.set("summary", "[]");
                object.remove("content");
            }
            Kind::FunctionCall | Kind::McpCall => object.set("arguments", r#""""#),
            Kind::CustomToolCall => object.set("input", r#""""#),
            _ => return,
        }
        if object.get("status").is_some() {
            object.set("status", r#""in_progress""#);
        }
    })
}

/// The events between `output_item.added` and `output_item.done`.
pub(super) fn emit_parts(item: &Item, place: Place<'_>, emitter: &mut Emitter) {
    let object = item.object();
    let mut telling = Telling { place, emitter };
    match item.head().kind {
        Kind::Message => telling.content(&object),
        Kind::Reasoning => telling.reasoning(&object),
        Kind::FunctionCall => telling.payload(&object, &ARGUMENTS),
        Kind::McpCall => telling.payload(&object, &MCP_ARGUMENTS),
        Kind::CustomToolCall => telling.payload(&object, &INPUT),
        _ => {}
    }
}

/// The events of one text: `delta` and `done`, and the field in which `done` says it all.
struct Text {
    delta: &'static str,
    done: &'static str,
    field: &'static str,
}

/// A text in a part, with the events around it.
struct PartText {
    added: &'static str,
    text: Text,
    part_done: &'static str,
    index: &'static str,
    has_logprobs: bool,
}

const ARGUMENTS: Text = Text {
    delta: "response.function_call_arguments.delta",
    done: "response.function_call_arguments.done",
    field: "arguments",
};
const MCP_ARGUMENTS: Text = Text {
    delta: "response.mcp_call_arguments.delta",
    done: "response.mcp_call_arguments.done",
    field: "arguments",
};
const INPUT: Text = Text {
    delta: "response.custom_tool_call_input.delta",
    done: "response.custom_tool_call_input.done",
    field: "input",
};
const OUTPUT_TEXT: PartText = content_part(
    "response.output_text.delta",
    "response.output_text.done",
    "text",
    true,
);
const REFUSAL: PartText = content_part(
    "response.refusal.delta",
    "response.refusal.done",
    "refusal",
    false,
);
const REASONING_TEXT: PartText = content_part(
    "response.reasoning_text.delta",
    "response.reasoning_text.done",
    "text",
    false,
);
const SUMMARY: PartText = PartText {
    added: "response.reasoning_summary_part.added",
    text: Text {
        delta: "response.reasoning_summary_text.delta",
        done: "response.reasoning_summary_text.done",
        field: "text",
    },
    part_done: "response.reasoning_summary_part.done",
    index: "summary_index",
    has_logprobs: false,
};

const fn content_part(
    delta: &'static str,
    done: &'static str,
    field: &'static str,
    has_logprobs: bool,
) -> PartText {
    PartText {
        added: "response.content_part.added",
        text: Text { delta, done, field },
        part_done: "response.content_part.done",
        index: "content_index",
        has_logprobs,
    }
}

struct Telling<'a> {
    place: Place<'a>,
    emitter: &'a mut Emitter,
}

impl Telling<'_> {
    fn content(&mut self, item: &Object<'_>) {
        for (index, part) in parts(item, "content").iter().enumerate() {
            match part.string("type").as_deref() {
                Some("output_text") => self.part(index, part, &OUTPUT_TEXT),
                Some("refusal") => self.part(index, part, &REFUSAL),
                _ => self.bare_part(index, part),
            }
        }
    }

    fn reasoning(&mut self, item: &Object<'_>) {
        for (index, part) in parts(item, "summary").iter().enumerate() {
            self.part(index, part, &SUMMARY);
        }
        for (index, part) in parts(item, "content").iter().enumerate() {
            self.part(index, part, &REASONING_TEXT);
        }
    }

    fn payload(&mut self, item: &Object<'_>, events: &Text) {
        let text = item.get(events.field).unwrap_or(r#""""#);
        self.emit(events.delta, &[("delta", text)]);
        self.emit(events.done, &[(events.field, text)]);
    }

    fn part(&mut self, index: usize, part: &Object<'_>, events: &PartText) {
        let field = events.text.field;
        let text = part.get(field).unwrap_or(r#""""#);
        let mut empty = part.clone();
        empty.set(field, r#""""#);
        let (empty, whole, index) = (empty.to_text(), part.to_text(), index.to_string());
        let at = (events.index, index.as_str());
        let logprobs = ("logprobs", part.get("logprobs").unwrap_or("[]"));
        let fields = |key, raw| match events.has_logprobs {
            true => vec![at, (key, raw), logprobs],
            false => vec![at, (key, raw)],
        };
        self.emit(events.added, &[at, ("part", &empty)]);
        self.emit(events.text.delta, &fields("delta", text));
        self.emit(events.text.done, &fields(field, text));
        self.emit(events.part_done, &[at, ("part", &whole)]);
    }

    /// A part without text of its own.
    fn bare_part(&mut self, index: usize, part: &Object<'_>) {
        let (index, part) = (index.to_string(), part.to_text());
        for kind in [OUTPUT_TEXT.added, OUTPUT_TEXT.part_done] {
            self.emit(kind, &[("content_index", &index), ("part", &part)]);
        }
    }

    fn emit(&mut self, kind: &'static str, fields: &[(&str, &str)]) {
        let id = quote(self.place.item_id);
        let index = self.place.output_index.to_string();
        let mut all = vec![("item_id", id.as_str()), ("output_index", index.as_str())];
        all.extend_from_slice(fields);
        self.emitter.emit(kind, &all);
    }
}

fn parts<'a>(item: &'a Object<'_>, list: &str) -> Vec<Object<'a>> {
    item.get(list)
        .and_then(|raw| serde_json::from_str(raw).ok())
        .unwrap_or_default()
}
