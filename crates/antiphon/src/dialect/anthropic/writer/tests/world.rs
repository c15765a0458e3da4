//! An upstream, an assembler, the writer, and a client that checks every stream it gets.

use bytes::Bytes;
use serde_json::{Value, json};

use super::client::read;
use crate::dialect::anthropic::AnthropicWriter;
use crate::dialect::anthropic::stream::tests::world::context;
use crate::dialect::{Dialect, StreamDecoder};
use crate::json::Object;
use crate::stream::tests::world::World;
use crate::stream::{Assembler, Event, Failure, Finished, Form};

pub(super) const NOW: i64 = 1_770_000_060;

/// A client's stream and its result.
pub(super) struct Written {
    pub(super) events: Vec<Value>,
    /// The message or error that the stream adds up to.
    pub(super) streamed: Value,
    /// The same answer as one object.
    pub(super) folded: Value,
    /// After each upstream event, the number of events written so far.
    pub(super) live: Vec<usize>,
}

/// Converts these events of a Responses upstream. If they do not end the response, it is truncated.
pub(super) fn convert(events: &[Value]) -> Written {
    convert_in(Form::OpenAi, events)
}

pub(super) fn convert_in(form: Form, events: &[Value]) -> Written {
    write(Dialect::Responses, form, events)
}

/// Converts these events of an Anthropic upstream.
pub(super) fn convert_anthropic(events: &[Value]) -> Written {
    write(Dialect::Anthropic, Form::OpenAi, events)
}

fn write(dialect: Dialect, form: Form, events: &[Value]) -> Written {
    let mut assembler = World::default().assembler().with_form(form);
    let mut decoder = StreamDecoder::new(dialect, context());
    let mut writer = AnthropicWriter::new(None);
    let (mut received, mut live) = (Vec::new(), Vec::new());
    for event in events {
        decoder.decode(&Bytes::from(event.to_string()), &mut assembler).unwrap();
        write_events(&mut assembler, &mut writer, &mut received);
        live.push(received.len());
    }
    decoder.finish(&mut assembler);
    assembler.fail(Failure::server_error("The upstream broke off."));
    write_events(&mut assembler, &mut writer, &mut received);
    written(&mut writer, received, live, &assembler.finish(NOW))
}

fn write_events(
    assembler: &mut Assembler,
    writer: &mut AnthropicWriter,
    received: &mut Vec<Event>,
) {
    while let Some(event) = assembler.next_event() {
        received.extend(writer.event(&event));
    }
}

fn written(
    writer: &mut AnthropicWriter,
    mut received: Vec<Event>,
    live: Vec<usize>,
    finished: &Finished,
) -> Written {
    let response = Object::parse_str(&finished.response).unwrap();
    received.extend(writer.end(&response));
    let json = |event: &Event| serde_json::from_slice(&event.data).unwrap();
    let events: Vec<Value> = received.iter().map(json).collect();
    let story = || events.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let streamed = read(&received).unwrap_or_else(|broken| panic!("{broken}\n{}", story()));
    let folded = serde_json::from_str(&writer.fold(&response)).unwrap();
    Written { events, streamed, folded, live }
}

impl Written {
    /// The blocks of the message.
    pub(super) fn content(&self) -> &Vec<Value> {
        self.streamed["content"].as_array().unwrap()
    }

    /// The types of the events, with the index of their block.
    pub(super) fn story(&self) -> Vec<String> {
        let line = |event: &Value| {
            let kind = event["type"].as_str().unwrap().replace("content_block_", "");
            event["index"].as_u64().map_or(kind.clone(), |index| format!("{kind} {index}"))
        };
        self.events.iter().map(line).collect()
    }
}

/// A Responses stream with these items in sequence, and its end.
pub(super) fn items(items: &[Value], end: &Value) -> Vec<Value> {
    let received = items.iter().enumerate().map(|(index, item)| {
        json!({"type": "response.output_item.done", "output_index": index, "item": item})
    });
    [created()].into_iter().chain(received).chain([end.clone()]).collect()
}

pub(super) fn created() -> Value {
    json!({"type": "response.created", "response": {"id": "resp_up", "output": []}})
}

pub(super) fn completed() -> Value {
    json!({"type": "response.completed", "response": {"status": "completed"}})
}

pub(super) fn incomplete(reason: &str) -> Value {
    json!({"type": "response.incomplete",
        "response": {"status": "incomplete", "incomplete_details": {"reason": reason}}})
}

pub(super) fn message(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]})
}

pub(super) fn call(call_id: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{call_id}"), "call_id": call_id,
        "name": "look", "arguments": arguments, "status": "completed"})
}

/// Announces an item without content.
pub(super) fn added(index: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

pub(super) fn done(index: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

/// A delta of an item's text.
pub(super) fn delta(kind: &str, index: u64, piece: &str) -> Value {
    json!({"type": format!("response.{kind}.delta"), "output_index": index, "content_index": 0,
        "summary_index": 0, "delta": piece})
}
