//! A strict client of Anthropic Messages.
//!
//! Sources: Anthropic's streaming documentation for the order of events and the deltas of each
//! block; the error *`tool_use` ids must be unique*.

use std::collections::HashSet;

use antiphon::json::Object;
use antiphon::stream::Event;
use serde_json::{Value, json};

/// Follows a stream from its first event to its last.
pub fn check(told: &[Event]) {
    let mut client = Client::default();
    for event in told {
        client.take(&read(event));
    }
    assert_eq!(client.phase, Phase::Ended, "the stream ends");
}

/// The JSON of an event. If it has lone surrogates or large numbers, only the known fields.
fn read(event: &Event) -> Value {
    assert!(!event.data.contains(&b'\n') && !event.data.contains(&b'\r'), "the data is one line");
    let json = serde_json::from_slice(&event.data).unwrap_or_else(|_| ours(event));
    assert_eq!(json["type"], *event.kind, "the event name equals its type");
    json
}

fn ours(event: &Event) -> Value {
    let object = Object::parse(&event.data).expect("an event is a JSON object");
    let known = ["type", "index"].into_iter().filter_map(|key| {
        let value = serde_json::from_str::<Value>(object.get(key)?);
        Some((key, value.expect("the gateway writes this field")))
    });
    known.collect()
}

#[derive(Debug, Default)]
struct Client {
    phase: Phase,
    /// The number of finished blocks.
    blocks: u64,
    tool_ids: HashSet<String>,
}

/// ```text
///   Awaited ── message_start ──> Within ── message_delta ──> Stopped ── message_stop ──> Ended
///      │                           └── error ──────────────────────────────────────────^
///      └── error ──────────────────────────────────────────────────────────────────────^
/// ```
#[derive(Debug, Default, PartialEq)]
enum Phase {
    #[default]
    Awaited,
    Within(Option<Block>),
    Stopped,
    Ended,
}

/// The open block.
#[derive(Debug, PartialEq)]
struct Block {
    /// The `type`; `None` if it cannot be parsed.
    kind: Option<String>,
    is_signed: bool,
}

impl Client {
    fn take(&mut self, event: &Value) {
        let phase = std::mem::take(&mut self.phase);
        self.phase = match (phase, event["type"].as_str().unwrap_or_default()) {
            (Phase::Awaited, "message_start") => begun(&event["message"]),
            (Phase::Within(None), "content_block_start") => Phase::Within(Some(self.start(event))),
            (Phase::Within(Some(block)), "content_block_delta") => {
                Phase::Within(Some(self.hear(block, event)))
            }
            (Phase::Within(Some(_)), "content_block_stop") => {
                assert_eq!(event["index"], self.blocks, "the open block stops");
                self.blocks += 1;
                Phase::Within(None)
            }
            (Phase::Within(None), "message_delta") => stopped(event),
            (Phase::Stopped, "message_stop") => Phase::Ended,
            (Phase::Awaited | Phase::Within(None), "error") => failed(&event["error"]),
            (phase, kind) => panic!("{kind} cannot come in {phase:?}"),
        };
    }

    fn start(&mut self, event: &Value) -> Block {
        assert_eq!(event["index"], self.blocks, "indexes count up from 0");
        let block = event.get("content_block");
        let kind = block.map(|block| block["type"].as_str().expect("a block has a type"));
        if let Some(block) = block.filter(|block| block["type"] == "tool_use") {
            let id = block["id"].as_str().filter(|id| !id.is_empty()).expect("a call has an id");
            assert!(self.tool_ids.insert(id.to_owned()), "ids of calls are unique: {id}");
            assert_eq!(block["input"], json!({}), "the input comes in pieces");
        }
        Block { kind: kind.map(str::to_owned), is_signed: false }
    }

    fn hear(&self, mut block: Block, event: &Value) -> Block {
        assert_eq!(event["index"], self.blocks, "the delta is for the open block");
        let (Some(kind), Some(delta)) = (&block.kind, event.get("delta")) else { return block };
        let (field, is_text) = match (kind.as_str(), delta["type"].as_str().unwrap_or_default()) {
            ("text", "text_delta") => ("text", true),
            ("text", "citations_delta") => ("citation", false),
            ("thinking", "thinking_delta") => ("thinking", true),
            ("thinking", "signature_delta") if !block.is_signed => {
                block.is_signed = true;
                ("signature", true)
            }
            (kind, "input_json_delta") if kind.ends_with("tool_use") => ("partial_json", true),
            (kind, delta) => panic!("a block {kind} cannot have a {delta}"),
        };
        assert!(if is_text { delta[field].is_string() } else { delta[field].is_object() });
        block
    }
}

fn begun(message: &Value) -> Phase {
    assert_eq!((&message["type"], &message["role"]), (&json!("message"), &json!("assistant")));
    assert_eq!((&message["content"], &message["stop_reason"]), (&json!([]), &json!(null)));
    assert!(message["id"].as_str().is_some_and(|id| id.starts_with("msg_")), "a message has an id");
    assert!(message["model"].is_string() && message["usage"]["input_tokens"].is_u64());
    Phase::Within(None)
}

fn stopped(event: &Value) -> Phase {
    assert!(event["delta"]["stop_reason"].is_string(), "a message stops for a reason");
    assert!(event["usage"]["output_tokens"].is_u64(), "usage is a number");
    Phase::Stopped
}

fn failed(error: &Value) -> Phase {
    assert!(
        error["type"].is_string() && error["message"].is_string(),
        "an error has a type and a message"
    );
    Phase::Ended
}
