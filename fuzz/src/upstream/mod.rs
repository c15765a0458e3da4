//! What upstreams of other dialects send: a stream as a corpus has it, or made of the compact form,
//! in which every chunk is a few bytes.

mod ai_sdk;
mod anthropic;
mod chat;

use std::borrow::Cow;

use antiphon::dialect::Dialect;
use serde_json::Value;

/// The bytes of a chunk in the compact form: what it tells, of which item, how, and what it says.
type Chunk = [u8; 4];

/// The stream that `bytes` stand for. What begins as an event stream, or as lines of JSON, is taken
/// as it is.
#[must_use]
pub fn stream(dialect: Dialect, bytes: &[u8]) -> Cow<'_, [u8]> {
    let is_stream = [&b"{"[..], b"\n", b"data", b"event", b":"];
    if is_stream.iter().any(|start| bytes.starts_with(start)) {
        return bytes.into();
    }
    let chunks = bytes.as_chunks().0.iter().map(|chunk: &Chunk| match dialect {
        Dialect::Chat => chat::chunk(*chunk),
        Dialect::Anthropic => anthropic::event(*chunk),
        Dialect::AiSdk => ai_sdk::part(*chunk),
        Dialect::Responses => unreachable!("the target of the assembler makes these"),
    });
    let lines = chunks.map(line);
    lines.collect::<String>().into_bytes().into()
}

/// A text is no JSON of ours: `[DONE]`, or what is broken.
fn line(chunk: Value) -> String {
    match chunk {
        Value::String(text) => format!("data: {text}\n\n"),
        chunk => format!("data: {chunk}\n\n"),
    }
}
