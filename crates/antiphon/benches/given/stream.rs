//! The stream of a message that a model says word by word.

use std::hint::black_box;

use antiphon::IdSource;
use antiphon::json::Object;
use antiphon::stream::{Assembler, Decoder, Envelope, Taken};
use bytes::Bytes;
use serde_json::{Value, json};

use super::words::Words;

/// Whether the upstream numbers its events as its caller is to see them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Every event can be passed on as it came.
    Right,
    /// Every event has to be written anew.
    Wrong,
}

/// A stream as an upstream sends it, in the pieces in which a socket gives it.
pub(crate) struct TextStream {
    pub(crate) chunks: Vec<Bytes>,
}

const CHUNK: usize = 4096;
const LIMIT: usize = 1 << 20;

impl TextStream {
    /// A message in so many deltas.
    pub(crate) fn of(deltas: usize, numbers: Numbers) -> Self {
        let mut text = String::new();
        for (number, mut event) in events(deltas).into_iter().enumerate() {
            let number = number + usize::from(numbers == Numbers::Wrong);
            event["sequence_number"] = number.into();
            let kind = event["type"].as_str().expect("every event has a type");
            text.extend(["event: ", kind, "\ndata: ", &event.to_string(), "\n\n"]);
        }
        let text = Bytes::from(text);
        let starts = (0..text.len()).step_by(CHUNK);
        let chunks = starts.map(|at| text.slice(at..text.len().min(at + CHUNK)));
        Self { chunks: chunks.collect() }
    }

    /// Decodes the stream; returns how many events it has.
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

/// What the gateway does with a stream: decode, assemble, encode. Returns the bytes for the client.
pub(crate) fn relay(stream: &TextStream) -> usize {
    let mut decoder = Decoder::new(LIMIT);
    let mut assembler = assembler();
    let mut sent = 0;
    for chunk in &stream.chunks {
        decoder.push(chunk);
        while let Some(frame) = decoder.next_frame().expect("its events are short") {
            assembler.hear(&frame.data).expect("its events are JSON");
            while let Some(event) = assembler.next_event() {
                sent += black_box(event.to_sse()).len();
            }
        }
    }
    sent + assembler.finish(0).event.to_sse().len()
}

fn assembler() -> Assembler {
    let request = Object::parse(br#"{"model":"sim"}"#).expect("it is an object");
    let envelope = Envelope::new("resp_ours", 1_770_000_000, &request, None);
    Assembler::new(envelope, Taken::default(), Box::new(Unused), true)
}

/// An upstream that names all its items well leaves nothing to name.
struct Unused;

impl IdSource for Unused {
    fn fill(&mut self, _: &mut [u8]) {
        unreachable!("every item has its id");
    }
}

fn events(deltas: usize) -> Vec<Value> {
    let mut words = Words::new(deltas);
    let pieces: Vec<String> = (0..deltas).map(|_| words.prose(4)).collect();
    let text = pieces.concat();
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
    let item = |status: &str, content: Value| json!({"type": "message", "id": ITEM_ID, "role": "assistant", "status": status, "content": content});
    let done = item("completed", json!([part(&text)]));
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "resp_up"}}),
        json!({"type": "response.in_progress", "response": {"id": "resp_up"}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item("in_progress", json!([]))}),
        within("content_part.added", "part", &part("")),
    ];
    events.extend(pieces.iter().map(|piece| within("output_text.delta", "delta", &json!(piece))));
    events.push(within("output_text.done", "text", &json!(text)));
    events.push(within("content_part.done", "part", &part(&text)));
    events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": done}));
    events.push(json!({"type": "response.completed", "response": {"id": "resp_up", "status": "completed", "output": [done]}}));
    events
}

const ITEM_ID: &str = "msg_0123456789abcdef0123456789abcdef0123456789abcdef";

/// An event of the only part of the only item.
fn within(name: &str, field: &str, value: &Value) -> Value {
    json!({"type": format!("response.{name}"), "item_id": ITEM_ID, "output_index": 0,
        "content_index": 0, "logprobs": [], field: value})
}
