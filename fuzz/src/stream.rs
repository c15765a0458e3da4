//! Streams of an upstream, event by event.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::alphabet::{CALLS, id, one_of, text};

/// Parses the events of a stream: one JSON object per line, or the compact form.
#[must_use]
pub fn events(bytes: &[u8]) -> Vec<Bytes> {
    if matches!(bytes.first(), Some(b'{' | b'\n')) {
        return bytes.split(|byte| *byte == b'\n').map(Bytes::copy_from_slice).collect();
    }
    let events = bytes.chunks_exact(EVENT);
    events
        .map(|event| json_of([event[0], event[1], event[2], event[3]]).to_string().into())
        .collect()
}

/// The bytes of an event in the compact form: type, item, part, text.
const EVENT: usize = 4;

const PARTS: [&str; 4] =
    ["content_part", "reasoning_summary_part", "output_item", "web_search_call"];

/// Texts: the prefix of their events, and the field of the last event with the whole text.
const TEXTS: [(&str, &str); 9] = [
    ("output_text", "text"),
    ("refusal", "refusal"),
    ("reasoning_text", "text"),
    ("reasoning", "text"),
    ("reasoning_summary_text", "text"),
    ("function_call_arguments", "arguments"),
    ("mcp_call_arguments", "arguments"),
    ("custom_tool_call_input", "input"),
    ("code_interpreter_call_code", "code"),
];

const ENDS: [&str; 8] = [
    "response.completed",
    "response.incomplete",
    "response.failed",
    "response.cancelled",
    "response.done",
    "error",
    "response.created",
    "response.in_progress",
];

fn json_of([what, which, part, text_id]: [u8; EVENT]) -> Value {
    let mut event = match what % 32 {
        0..8 => json!({"type": "response.output_item.added", "item": item(which, text_id)}),
        8..12 => json!({"type": "response.output_item.done", "item": item(which, text_id)}),
        12..20 => {
            let (name, _) = TEXTS[usize::from(part) % TEXTS.len()];
            json!({"type": format!("response.{name}.delta"), "delta": text(text_id)})
        }
        20..25 => {
            let (name, field) = TEXTS[usize::from(part) % TEXTS.len()];
            json!({"type": format!("response.{name}.done"), field: text(text_id)})
        }
        25 => part_event("added", part, text_id),
        26 => part_event("done", part, text_id),
        27 => json!({"type": "response.output_text.annotation.added", "annotation_index": 0,
            "annotation": {"type": "url_citation", "url": text(text_id)}}),
        28 => json!({"type": "response.acme.progress", "text": text(text_id)}),
        29 | 30 => return end(which, text_id),
        _ => json!({"type": text(text_id)}),
    };
    place(&mut event, which, part);
    event
}

/// Adds the event's position, as the upstream gives it. Some upstreams omit part of it.
fn place(event: &mut Value, which: u8, part: u8) {
    if part < 192 {
        event["output_index"] = (which % 4).into();
    }
    if let Some(id) = id("msg", which).filter(|_| part & 64 == 0) {
        event["item_id"] = id.into();
    }
    if part & 32 == 0 {
        event["content_index"] = (part % 3).into();
        event["summary_index"] = (part % 3).into();
    }
}

fn part_event(edge: &str, part: u8, text_id: u8) -> Value {
    let name = PARTS[usize::from(part) % 2];
    let kind =
        ["output_text", "refusal", "reasoning_text", "summary_text"][usize::from(text_id >> 6)];
    let field = if kind == "refusal" { "refusal" } else { "text" };
    json!({"type": format!("response.{name}.{edge}"), "part": {"type": kind, field: text(text_id)}})
}

fn end(which: u8, text_id: u8) -> Value {
    let kind = ENDS[usize::from(which) % ENDS.len()];
    let output: Vec<Value> = (0..text_id % 4).map(|number| item(number, text_id)).collect();
    let status = ["completed", "incomplete", "failed", "odd"][usize::from(text_id >> 6)];
    match text_id % 3 {
        0 => json!({"type": kind}),
        1 => json!({"type": kind, "response": {"id": "resp_up", "output": output}}),
        _ => json!({"type": kind, "response": {"id": 7, "status": status, "output": output}}),
    }
}

fn item(which: u8, text_id: u8) -> Value {
    let (kind, output, prefix) = one_of(&CALLS, which >> 4);
    let said = text(text_id);
    let mut item = match text_id >> 5 {
        0 => json!({"type": "message", "role": "assistant", "content": []}),
        1 => json!({"type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": said},
                {"type": "refusal", "refusal": said}]}),
        2 => json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": said}],
            "encrypted_content": "gAAAA"}),
        3 | 4 => json!({"type": kind, "name": "f", "arguments": said}),
        5 => json!({"type": "custom_tool_call", "name": "f", "input": said}),
        6 => json!({"type": output, "output": said}),
        _ => json!({"type": "acme:telemetry", "call_id": 7, "content": said}),
    };
    let prefix = match text_id >> 5 {
        0 | 1 => "msg",
        2 => "rs",
        5 => "ctc",
        _ => prefix,
    };
    if let Some(id) = id(prefix, which) {
        item["id"] = id.into();
    }
    if let Some(call_id) =
        id("call", which.wrapping_mul(5)).filter(|_| (3..7).contains(&(text_id >> 5)))
    {
        item["call_id"] = call_id.into();
    }
    item
}
