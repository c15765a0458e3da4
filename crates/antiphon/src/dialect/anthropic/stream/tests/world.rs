//! An Anthropic server, its events, and the decoded stream. Every stream is checked.

use serde_json::{Value, json};

use crate::dialect::{Dialect, RequestContext, Seal, StreamDecoder};
use crate::json::Object;
use crate::stream::Note;
use crate::stream::tests::checker::Upstream;
use crate::stream::tests::world::{ClientView, World};
use crate::transcript::Origin;

pub(crate) const ORIGIN: &str = "api.anthropic.com claude";

pub(crate) fn context() -> RequestContext {
    let crm = json!({"type": "namespace", "name": "crm",
        "tools": [{"type": "function", "name": "find"}]});
    let tools = json!({"tools": [{"type": "custom", "name": "shell"}, crm]}).to_string();
    RequestContext::from_request(
        &Object::parse(tools.as_bytes()).unwrap(),
        &[],
        Origin::new(ORIGIN),
    )
}

/// Decodes these events; then the stream ends.
pub(crate) fn decode(events: &[Value]) -> ClientView {
    decode_from(Upstream::Coherent, events)
}

/// Decodes events from a server that may contradict itself.
pub(crate) fn decode_from(upstream: Upstream, events: &[Value]) -> ClientView {
    let world = match upstream {
        Upstream::Coherent => World::default(),
        Upstream::Contradictory => World::default().with_contradictory_upstream(),
        Upstream::Keeping => World::default().owned_by_upstream(),
    };
    let mut assembler = world.assembler();
    let mut decoder = StreamDecoder::new(Dialect::Anthropic, context());
    for event in events {
        decoder.decode(&event.to_string().into(), &mut assembler).unwrap();
    }
    decoder.finish(&mut assembler);
    world.ends(assembler)
}

/// Decodes a body that is not streamed.
pub(crate) fn decode_whole(body: &Value) -> ClientView {
    let world = World::default();
    let mut assembler = world.assembler();
    let mut decoder = StreamDecoder::new(Dialect::Anthropic, context());
    decoder.decode_whole(&body.to_string().into(), &mut assembler).unwrap();
    world.ends(assembler)
}

/// Decodes an answer with these events between `message_start` and a `stop_reason`.
pub(crate) fn answers(stop_reason: &str, blocks: &[Vec<Value>]) -> ClientView {
    decode(&answer(stop_reason, blocks))
}

pub(crate) fn answer(stop_reason: &str, blocks: &[Vec<Value>]) -> Vec<Value> {
    let end = [message_delta(stop_reason), message_stop()];
    [message_start()].into_iter().chain(blocks.concat()).chain(end).collect()
}

pub(crate) fn message_start() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_01", "type": "message",
        "role": "assistant", "model": "claude-up", "content": [], "stop_reason": null,
        "stop_sequence": null, "usage": {"input_tokens": 25, "output_tokens": 1}}})
}

pub(crate) fn message_delta(stop_reason: &str) -> Value {
    json!({"type": "message_delta", "usage": {"output_tokens": 15},
        "delta": {"stop_reason": stop_reason, "stop_sequence": null}})
}

pub(crate) fn message_stop() -> Value {
    json!({"type": "message_stop"})
}

pub(crate) fn start(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

pub(crate) fn delta(index: u64, kind: &str, field: &str, value: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": {"type": kind, field: value}})
}

pub(crate) fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

/// A block with these deltas of one type.
pub(crate) fn block(
    index: u64,
    started: &Value,
    (kind, field): (&str, &str),
    pieces: &[&str],
) -> Vec<Value> {
    let deltas = pieces.iter().map(|piece| delta(index, kind, field, &json!(piece)));
    [start(index, started)].into_iter().chain(deltas).chain([stop(index)]).collect()
}

pub(crate) fn text(index: u64, pieces: &[&str]) -> Vec<Value> {
    block(index, &json!({"type": "text", "text": ""}), ("text_delta", "text"), pieces)
}

pub(crate) fn thinking(index: u64, pieces: &[&str], signature: &str) -> Vec<Value> {
    let started = json!({"type": "thinking", "thinking": "", "signature": ""});
    let mut events = block(index, &started, ("thinking_delta", "thinking"), pieces);
    if !signature.is_empty() {
        let signed = delta(index, "signature_delta", "signature", &json!(signature));
        events.insert(events.len() - 1, signed);
    }
    events
}

pub(crate) fn tool_use(id: &str, name: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": {}})
}

pub(crate) const INPUT: (&str, &str) = ("input_json_delta", "partial_json");

/// A call with its input in these deltas; an empty one comes first, as in Anthropic's streams.
pub(crate) fn call(index: u64, id: &str, pieces: &[&str]) -> Vec<Value> {
    let pieces = [&[""], pieces].concat();
    block(index, &tool_use(id, "look"), INPUT, &pieces)
}

/// The sealed block of a reasoning item.
pub(crate) fn sealed(item: &Value) -> Value {
    let seal = Seal::parse(item["encrypted_content"].as_str().unwrap()).unwrap();
    assert_eq!((seal.dialect, seal.origin.as_str()), (Dialect::Anthropic, ORIGIN));
    serde_json::from_str(&seal.content).unwrap()
}

/// The types of the output items.
pub(crate) fn kinds(received: &ClientView) -> Vec<String> {
    received.output().iter().map(|item| item["type"].as_str().unwrap().to_owned()).collect()
}

/// The notes about omissions.
pub(crate) fn left_out(received: &ClientView) -> Vec<&str> {
    let notes = received.finished.notes.iter();
    let left_out = notes.filter_map(|note| match note {
        Note::Omitted { what } => Some(what.as_str()),
        _ => None,
    });
    left_out.collect()
}
