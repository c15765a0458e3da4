//! Streams of upstreams of other dialects: text from a corpus, or the compact form with a few bytes
//! for each chunk.

mod ai_sdk;
mod anthropic;
mod chat;

use std::borrow::Cow;

use antiphon::dialect::Dialect;
use serde_json::Value;

/// The bytes of a chunk in the compact form: type, item, variant, text.
type Chunk = [u8; 4];

/// The stream for `bytes`. Input that begins as an event stream or as lines of JSON is used
/// unchanged.
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
        Dialect::Responses => unreachable!("the assembler target creates these"),
    });
    let lines = chunks.map(line);
    lines.collect::<String>().into_bytes().into()
}

/// Encodes a chunk as an event. A string is sent as plain text: `[DONE]`, or broken JSON.
fn line(chunk: Value) -> String {
    match chunk {
        Value::String(text) => format!("data: {text}\n\n"),
        chunk => format!("data: {chunk}\n\n"),
    }
}
