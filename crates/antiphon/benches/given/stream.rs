//! Streams in chunks as they arrive from sockets, and their conversions.

use std::hint::black_box;

use antiphon::dialect::{
    Conversion, Dialect, Encoded, Request, RequestContext, UpstreamApi, Writer,
};
use antiphon::json::Object;
use antiphon::stateful::StatefulClient;
use antiphon::stream::{Assembler, Decoder, Envelope, UsedIds};
use antiphon::transcript::Origin;
use antiphon::{IdSource, Item};
use bytes::Bytes;
use serde_json::{Value, json};

use super::history::{KEY, ORIGIN};
use super::upstream::{Said, Upstream, event_stream, pieces};

/// Whether the upstream's sequence numbers are those that the client has to get.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Every event can be passed on unchanged.
    Right,
    /// Every event has to be rewritten.
    Wrong,
}

/// A stream of an upstream, in chunks as they arrive from a socket.
pub(crate) struct TextStream {
    pub(crate) chunks: Vec<Bytes>,
}

const CHUNK: usize = 4096;
const LIMIT: usize = 1 << 20;

impl TextStream {
    /// A message of `deltas` deltas.
    pub(crate) fn with_deltas(deltas: usize, numbers: Numbers) -> Self {
        let mut text = String::new();
        for (number, mut event) in message(&pieces(deltas)).into_iter().enumerate() {
            let number = number + usize::from(numbers == Numbers::Wrong);
            event["sequence_number"] = number.into();
            let kind = event["type"].as_str().expect("every event has a type");
            text.extend(["event: ", kind, "\ndata: ", &event.to_string(), "\n\n"]);
        }
        Self::cut(text)
    }

    /// A response of `deltas` deltas from an upstream of this dialect.
    pub(crate) fn from<U: Upstream>(reply: Said, deltas: usize) -> Self {
        Self::cut(event_stream::<U>(reply, deltas))
    }

    fn cut(text: String) -> Self {
        let text = Bytes::from(text);
        let starts = (0..text.len()).step_by(CHUNK);
        let chunks = starts.map(|at| text.slice(at..text.len().min(at + CHUNK)));
        Self { chunks: chunks.collect() }
    }

    /// Decodes the stream and returns the number of its events.
    pub(crate) fn decode(&self) -> usize {
        let mut decoder = Decoder::new(LIMIT);
        let mut count = 0;
        for chunk in &self.chunks {
            decoder.push(chunk);
            while let Some(frame) = decoder.next_frame().expect("its events are short") {
                black_box(frame);
                count += 1;
            }
        }
        count
    }
}

/// Decodes, assembles and encodes a stream, as the gateway does. Returns the number of bytes for
/// the client.
pub(crate) fn relay(stream: &TextStream) -> usize {
    let mut decoder = Decoder::new(LIMIT);
    let mut assembler = assembler();
    let mut sent = 0;
    for chunk in &stream.chunks {
        decoder.push(chunk);
        while let Some(frame) = decoder.next_frame().expect("its events are short") {
            assembler.apply_event(&frame.data).expect("its events are JSON");
            while let Some(event) = assembler.next_event() {
                sent += black_box(event.to_sse()).len();
            }
        }
    }
    sent + assembler.finish(0).event.to_sse().len()
}

/// Passes a stream through a client without a gateway. Returns the number of bytes for the caller.
pub(crate) fn correct(stream: &TextStream) -> usize {
    let client = StatefulClient::new(KEY);
    let body = Bytes::from_static(br#"{"model":"sim","input":"Hello"}"#);
    let mut turn = client.open("account", body).expect("it is a request");
    turn.start(true, 0);
    let sent: usize = stream.chunks.iter().map(|chunk| black_box(turn.push(chunk, 0)).len()).sum();
    sent + turn.finish(0).len()
}

/// Converts a stream from one dialect to another. Returns the number of bytes for the client.
pub(crate) fn convert(from: Dialect, to: Dialect, stream: &TextStream) -> usize {
    let context = RequestContext::unknown(Origin::new(ORIGIN));
    let writer = Writer::new(to).expect("clients speak it");
    let mut conversion = Conversion::new(from, context, assembler(), writer);
    let mut sent = 0;
    for chunk in &stream.chunks {
        let received = conversion.push(chunk);
        sent += received.iter().map(|event| black_box(event.to_sse()).len()).sum::<usize>();
    }
    let last = conversion.finish(0).events;
    sent + last.iter().map(|event| black_box(event.to_sse()).len()).sum::<usize>()
}

fn assembler() -> Assembler {
    let request = Object::parse(br#"{"model":"sim"}"#).expect("it is an object");
    let envelope = Envelope::new("resp_ours", 1_770_000_000, &request, None);
    Assembler::new(envelope, UsedIds::default(), Box::new(Counting(0)), true)
}

/// A request with these items, in the dialect of its upstream.
pub(crate) fn encoded(dialect: Dialect, items: &[Item]) -> Encoded {
    let fields = Object::parse(FIELDS).expect("it is an object");
    let request = Request { fields: &fields, items, origin: &Origin::new(ORIGIN) };
    let encode = dialect.upstream_api().and_then(UpstreamApi::encoder);
    let encode = encode.expect("requests of this dialect are encoded");
    encode(request).expect("every dialect carries these items")
}

const FIELDS: &[u8] = br#"{"model":"m-1","instructions":"Be brief.","tools":[{"type":"function",
    "name":"search","parameters":{"type":"object"}}],"max_output_tokens":4096}"#;

/// Ids for the items of upstreams that issue none.
struct Counting(u64);

impl IdSource for Counting {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0 += 1;
        bytes[16..].copy_from_slice(&self.0.to_be_bytes());
    }
}

/// The events of a message, without sequence numbers.
pub(super) fn message(pieces: &[String]) -> Vec<Value> {
    let text = pieces.concat();
    let part = |text: &str| {
        json!({"type": "output_text", "text": text, "annotations": [],
            "logprobs": []})
    };
    let item = |status: &str, content: Value| {
        json!({"type": "message", "id": ITEM_ID, "role": "assistant", "status": status,
            "content": content})
    };
    let done = item("completed", json!([part(&text)]));
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "resp_up"}}),
        json!({"type": "response.in_progress", "response": {"id": "resp_up"}}),
        json!({"type": "response.output_item.added", "output_index": 0,
            "item": item("in_progress", json!([]))}),
        within("content_part.added", "part", &part("")),
    ];
    events.extend(pieces.iter().map(|piece| within("output_text.delta", "delta", &json!(piece))));
    events.push(within("output_text.done", "text", &json!(text)));
    events.push(within("content_part.done", "part", &part(&text)));
    events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": done}));
    events.push(json!({"type": "response.completed",
        "response": {"id": "resp_up", "status": "completed", "output": [done]}}));
    events
}

const ITEM_ID: &str = "msg_0123456789abcdef0123456789abcdef0123456789abcdef";

/// An event for the only part of the only item.
fn within(name: &str, field: &str, value: &Value) -> Value {
    json!({"type": format!("response.{name}"), "item_id": ITEM_ID, "output_index": 0,
        "content_index": 0, "logprobs": [], field: value})
}

/// The events of a function call, without sequence numbers.
pub(super) fn call(pieces: &[String]) -> Vec<Value> {
    let within = |name: &str, field: &str, value: &str| {
        json!({"type": format!("response.function_call_arguments.{name}"),
            "item_id": CALL_ID, "output_index": 0, field: value})
    };
    let item = |status: &str, arguments: &str| {
        json!({"type": "function_call", "id": CALL_ID,
            "call_id": "call_9vYxQk2mHs0LrWcT8uJdB1Ne", "name": "search", "status": status,
        "arguments": arguments})
    };
    let arguments = pieces.concat();
    let done = item("completed", &arguments);
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "resp_up"}}),
        json!({"type": "response.in_progress", "response": {"id": "resp_up"}}),
        json!({"type": "response.output_item.added", "output_index": 0,
            "item": item("in_progress", "")}),
    ];
    events.extend(pieces.iter().map(|piece| within("delta", "delta", piece)));
    events.push(within("done", "arguments", &arguments));
    events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": done}));
    events.push(json!({"type": "response.completed",
        "response": {"id": "resp_up", "status": "completed", "output": [done]}}));
    events
}

const CALL_ID: &str = "fc_0123456789abcdef0123456789abcdef0123456789abcdef";
