//! Tests of the decoder through its public interface: a server's chunks, and the client's stream.

mod call_ids;
mod calls;
mod calls_uncounted;
mod chunks;
mod endings;
mod errors;
pub(in crate::dialect::chat) mod generator;
mod golden;
mod laws;
mod message;
mod reasoning;
mod signed_calls;
mod usage;
mod whole;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::dialect::{Dialect, RequestContext, StreamDecoder};
use crate::json::Object;
use crate::stream::Note;
use crate::stream::tests::world::{ClientView, World};
use crate::transcript::Origin;

/// Decodes the stream of a server that ends with `[DONE]`. The request has no tools.
fn decode(chunks: &[Value]) -> ClientView {
    Server::default().says(chunks)
}

/// A server and the request.
#[derive(Default)]
struct Server {
    world: World,
    tools: Option<Value>,
    /// Whether the stream ends without `[DONE]`.
    is_mute: bool,
}

impl Server {
    /// A server whose stream ends without `[DONE]`.
    fn without_done() -> Self {
        Self { is_mute: true, ..Self::default() }
    }

    fn decoder(&self) -> StreamDecoder {
        let request = json!({"tools": self.tools}).to_string();
        let request = Object::parse(request.as_bytes()).unwrap();
        StreamDecoder::new(Dialect::Chat, RequestContext::from_request(&request, &[], origin()))
    }

    /// Decodes these chunks.
    fn says(&self, chunks: &[Value]) -> ClientView {
        let (mut decoder, mut assembler) = (self.decoder(), self.world.assembler());
        for chunk in chunks {
            decoder.decode(&chunk.to_string().into(), &mut assembler).unwrap();
        }
        if !self.is_mute {
            decoder.decode(&Bytes::from_static(b"[DONE]"), &mut assembler).unwrap();
        }
        decoder.finish(&mut assembler);
        self.world.ends(assembler)
    }

    /// Decodes a body that is not streamed.
    fn answers(&self, body: &Value) -> ClientView {
        let (mut decoder, mut assembler) = (self.decoder(), self.world.assembler());
        decoder.decode_whole(&body.to_string().into(), &mut assembler).unwrap();
        self.world.ends(assembler)
    }
}

fn origin() -> Origin {
    Origin::new("host model")
}

/// A chunk with this delta.
fn chunk(delta: &Value) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m-1",
        "choices": [{"index": 0, "delta": delta, "finish_reason": null}]
    })
}

/// A chunk with a delta of the message.
fn text(piece: &str) -> Value {
    chunk(&json!({"content": piece}))
}

/// A chunk with fragments of calls.
fn calls(pieces: &Value) -> Value {
    chunk(&json!({"tool_calls": pieces}))
}

/// A chunk with this `finish_reason`.
fn finish(reason: &str) -> Value {
    let choice = json!({"index": 0, "delta": {}, "finish_reason": reason});
    json!({"id": "chatcmpl-1", "model": "m-1", "choices": [choice]})
}

/// The chunk with the usage, after the `finish_reason`.
fn usage(usage: &Value) -> Value {
    json!({"id": "chatcmpl-1", "model": "m-1", "choices": [], "usage": usage})
}

/// The notes about omissions.
fn left_out(received: &ClientView) -> Vec<&str> {
    received.finished.notes.iter().filter_map(as_left_out).collect()
}

fn as_left_out(note: &Note) -> Option<&str> {
    match note {
        Note::Omitted { what } => Some(what),
        _ => None,
    }
}

/// The calls of an answer: name, arguments or input, `call_id`.
fn calls_of(received: &ClientView) -> Vec<(String, String, String)> {
    let calls = received.output().into_iter().filter(|item| item["call_id"].is_string());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let call = |item: Value| {
        let input = text(&item["arguments"]) + &text(&item["input"]);
        (text(&item["name"]), input, text(&item["call_id"]))
    };
    calls.map(call).collect()
}

/// The calls of an answer without their ids.
fn called(received: &ClientView) -> Vec<(String, String)> {
    calls_of(received).into_iter().map(|(name, input, _)| (name, input)).collect()
}

/// A call's name and input, for comparison.
fn named_call(name: &str, input: &str) -> (String, String) {
    (name.to_owned(), input.to_owned())
}

/// The text of the answer's message.
fn message_text(received: &ClientView) -> String {
    received.deltas("output_text.delta")
}
