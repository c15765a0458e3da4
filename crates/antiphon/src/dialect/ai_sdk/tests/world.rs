//! A stream of parts, and a client that checks its events.

use serde_json::{Value, json};

use crate::dialect::{Conversion, Converted, Dialect, RequestContext, StreamDecoder, Writer};
use crate::item::IdSource;
use crate::json::Object;
use crate::stream::tests::checker::{Upstream, check};
use crate::stream::{Assembler, Envelope, Event, Finished, Note, Permission, UsedIds};
use crate::transcript::Origin;

pub(super) const NYC: &str = r#"{"location":"NYC"}"#;

const NOW: i64 = 1_770_000_060;

/// An id source that counts up.
#[derive(Default)]
struct Counting(u64);

impl IdSource for Counting {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0 += 1;
        let at = bytes.len() - 8;
        bytes[at..].copy_from_slice(&self.0.to_be_bytes());
    }
}

/// The request, and whether the upstream may contradict itself.
pub(super) struct World {
    request: Value,
    upstream: Upstream,
}

/// The client's events and response.
pub(super) struct ClientView {
    pub(super) events: Vec<Value>,
    pub(super) finished: Finished,
}

/// Decodes these parts, for a request without options.
pub(super) fn decode(parts: &[Value]) -> ClientView {
    World::asking(json!({})).decode(parts)
}

impl World {
    pub(super) fn asking(request: Value) -> Self {
        Self { request, upstream: Upstream::Coherent }
    }

    /// The final input of a call may differ from its deltas.
    pub(super) fn with_contradictory_upstream(self) -> Self {
        Self { upstream: Upstream::Contradictory, ..self }
    }

    pub(super) fn decode(&self, parts: &[Value]) -> ClientView {
        let lines: Vec<String> = parts.iter().map(|part| format!("{part}\n")).collect();
        self.decode_bytes(lines.concat().as_bytes())
    }

    /// Decodes parts in newline-delimited JSON.
    pub(super) fn decode_bytes(&self, ndjson: &[u8]) -> ClientView {
        let mut conversion =
            Conversion::new(Dialect::AiSdk, self.context(), self.assembler(), Writer::Responses);
        let mut events = conversion.push(ndjson);
        let Converted { events: last, finished, .. } = conversion.finish(NOW);
        events.extend(last);
        self.receive(&events, finished)
    }

    /// Decodes the result of `doGenerate`.
    pub(super) fn decode_whole(&self, answer: &Value) -> ClientView {
        let mut assembler = self.assembler();
        let mut decoder = StreamDecoder::new(Dialect::AiSdk, self.context());
        decoder.decode_whole(&answer.to_string().into(), &mut assembler).unwrap();
        let mut events: Vec<Event> = std::iter::from_fn(|| assembler.next_event()).collect();
        let finished = assembler.finish(NOW);
        events.push(finished.event.clone());
        self.receive(&events, finished)
    }

    fn context(&self) -> RequestContext {
        let request = self.request.to_string();
        let request = Object::parse(request.as_bytes()).unwrap();
        RequestContext::from_request(&request, &[], Origin::new("sdk model"))
    }

    fn assembler(&self) -> Assembler {
        let request = self.request.to_string();
        let request = Object::parse(request.as_bytes()).unwrap();
        let envelope = Envelope::new("resp_ours", 1_770_000_000, &request, None);
        let ids = Box::new(Counting::default());
        Assembler::new(envelope, UsedIds::default(), ids, true)
            .with_permission(Permission::from_request(&request))
    }

    fn receive(&self, events: &[Event], finished: Finished) -> ClientView {
        let events: Vec<Value> =
            events.iter().map(|event| serde_json::from_slice(&event.data).unwrap()).collect();
        let received = ClientView { events, finished };
        if let Err(broken) = check(&received.events, self.upstream) {
            panic!("{broken}\n{}", received.story());
        }
        received
    }
}

impl ClientView {
    pub(super) fn response(&self) -> &Value {
        &self.events.last().unwrap()["response"]
    }

    pub(super) fn output(&self) -> Vec<Value> {
        self.response()["output"].as_array().unwrap().clone()
    }

    /// The only item of the output.
    pub(super) fn only_item(&self) -> Value {
        let output = self.output();
        assert_eq!(output.len(), 1, "{}", self.story());
        output[0].clone()
    }

    /// The types of the items, in order.
    pub(super) fn kinds(&self) -> Vec<String> {
        self.output().iter().map(|item| item["type"].as_str().unwrap().to_owned()).collect()
    }

    pub(super) fn items(&self, kind: &str) -> Vec<Value> {
        self.output().into_iter().filter(|item| item["type"] == kind).collect()
    }

    /// The events of this type, without the prefix `response.`.
    pub(super) fn events_named(&self, kind: &str) -> Vec<&Value> {
        let kind = format!("response.{kind}");
        self.events.iter().filter(|event| event["type"] == *kind).collect()
    }

    pub(super) fn deltas(&self, kind: &str) -> String {
        self.events_named(kind).iter().map(|event| event["delta"].as_str().unwrap()).collect()
    }

    /// The notes about omissions.
    pub(super) fn left_out(&self) -> Vec<&str> {
        let notes = self.finished.notes.iter();
        let left_out = notes.filter_map(|note| match note {
            Note::Omitted { what } => Some(&**what),
            _ => None,
        });
        left_out.collect()
    }

    pub(super) fn story(&self) -> String {
        let lines: Vec<String> = self.events.iter().map(Value::to_string).collect();
        lines.join("\n")
    }
}

pub(super) fn start(id: &str) -> Value {
    json!({"type": "tool-input-start", "id": id, "toolName": "get_weather"})
}

pub(super) fn delta(id: &str, delta: &str) -> Value {
    json!({"type": "tool-input-delta", "id": id, "delta": delta})
}

pub(super) fn end(id: &str) -> Value {
    json!({"type": "tool-input-end", "id": id})
}

/// A `tool-call`. The input is a string as in a model's stream, or a value as in a `fullStream`.
pub(super) fn call(id: &str, input: impl Into<Value>) -> Value {
    let input = input.into();
    json!({"type": "tool-call", "toolCallId": id, "toolName": "get_weather", "input": input})
}

pub(super) fn result(id: &str, output: impl Into<Value>) -> Value {
    let output = output.into();
    json!({"type": "tool-result", "toolCallId": id, "toolName": "get_weather", "output": output})
}

pub(super) fn finish(reason: &str) -> Value {
    json!({"type": "finish", "finishReason": reason})
}

pub(super) fn start_step() -> Value {
    json!({"type": "start-step", "request": {}, "warnings": []})
}

pub(super) fn finish_step(reason: &str) -> Value {
    json!({"type": "finish-step", "finishReason": reason, "response": {"modelId": "gpt-5"}})
}
