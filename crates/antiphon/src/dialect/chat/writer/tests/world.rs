//! An upstream, an assembler, the writer, and a client that checks every stream it gets.

use bytes::Bytes;
use serde_json::{Value, json};

use super::client::read;
use crate::dialect::chat::ChatWriter;
use crate::dialect::{Dialect, RequestContext, StreamDecoder};
use crate::json::Object;
use crate::stream::tests::world::World;
use crate::stream::{Assembler, Event, Failure, Finished};
use crate::transcript::Origin;

const NOW: i64 = 1_770_000_060;

/// A client's stream and its result.
pub(super) struct Written {
    pub(super) events: Vec<Value>,
    /// The completion or error that the stream adds up to.
    pub(super) streamed: Value,
    /// The same answer as one object.
    pub(super) folded: Value,
    /// After each upstream event, the number of chunks written so far.
    pub(super) live: Vec<usize>,
    /// The items of the response.
    pub(super) output: Vec<Value>,
}

/// Converts these events of a Responses upstream. If they do not end the response, it is truncated.
pub(super) fn convert(events: &[Value]) -> Written {
    convert_for(&json!({"stream_options": {"include_usage": true}}), Dialect::Responses, events)
}

/// Converts these chunks of a Chat Completions upstream, without `[DONE]`.
pub(super) fn convert_chat(chunks: &[Value]) -> Written {
    convert_for(&json!({"stream_options": {"include_usage": true}}), Dialect::Chat, chunks)
}

/// Converts these events for this request of a client.
pub(super) fn convert_for(request: &Value, dialect: Dialect, events: &[Value]) -> Written {
    let request_text = request.to_string();
    let mut assembler = World::default().assembler();
    let mut decoder = StreamDecoder::new(dialect, context());
    let mut writer = ChatWriter::new(&Object::parse_str(&request_text).unwrap(), origin());
    let (mut received, mut live) = (Vec::new(), Vec::new());
    for event in events {
        decoder.decode(&Bytes::from(event.to_string()), &mut assembler).unwrap();
        write_events(&mut assembler, &mut writer, &mut received);
        live.push(received.len());
    }
    decoder.finish(&mut assembler);
    assembler.fail(Failure::server_error("The upstream broke off."));
    write_events(&mut assembler, &mut writer, &mut received);
    let includes_usage = request["stream_options"]["include_usage"] == true;
    written(&mut writer, received, live, &assembler.finish(NOW), includes_usage)
}

pub(super) fn context() -> RequestContext {
    let request = json!({"include": ["message.output_text.logprobs"]}).to_string();
    RequestContext::from_request(&Object::parse_str(&request).unwrap(), &[], origin())
}

pub(super) fn origin() -> Origin {
    Origin::new("host model")
}

fn write_events(assembler: &mut Assembler, writer: &mut ChatWriter, received: &mut Vec<Event>) {
    while let Some(event) = assembler.next_event() {
        received.extend(writer.event(&event));
    }
}

fn written(
    writer: &mut ChatWriter,
    mut received: Vec<Event>,
    live: Vec<usize>,
    finished: &Finished,
    includes_usage: bool,
) -> Written {
    let response = Object::parse_str(&finished.response).unwrap();
    received.extend(writer.end(&response));
    let json = |event: &Event| serde_json::from_slice(&event.data).unwrap();
    let events: Vec<Value> = received.iter().map(json).collect();
    let story = || events.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let streamed = read(&received, includes_usage);
    let mut streamed = streamed.unwrap_or_else(|broken| panic!("{broken}\n{}", story()));
    let folded: Value = serde_json::from_str(&writer.fold(&response)).unwrap();
    if !includes_usage && streamed.get("error").is_none() {
        streamed["usage"] = folded["usage"].clone();
    }
    let output = response.objects("output").iter().map(value).collect();
    Written { events, streamed, folded, live, output }
}

fn value(object: &Object<'_>) -> Value {
    serde_json::from_str(&object.to_text()).unwrap()
}

impl Written {
    /// The message, which is the same as a stream and as a whole.
    pub(super) fn message(&self) -> &Value {
        assert_eq!(self.streamed, self.folded);
        &self.folded["choices"][0]["message"]
    }

    pub(super) fn finish_reason(&self) -> &Value {
        assert_eq!(self.streamed, self.folded);
        &self.folded["choices"][0]["finish_reason"]
    }

    /// The nonempty deltas of the chunks.
    pub(super) fn deltas(&self) -> Vec<&Value> {
        let deltas = self.events.iter().map(|chunk| &chunk["choices"][0]["delta"]);
        deltas.filter(|delta| delta.as_object().is_some_and(|delta| !delta.is_empty())).collect()
    }
}

/// A Responses stream with these items in sequence, and its end.
pub(super) fn items(items: &[Value], end: &Value) -> Vec<Value> {
    let received = items.iter().enumerate().map(|(index, item)| done(index as u64, item));
    [created()].into_iter().chain(received).chain([end.clone()]).collect()
}

pub(super) fn created() -> Value {
    json!({"type": "response.created", "response": {"id": "resp_up", "output": []}})
}

pub(super) fn completed() -> Value {
    json!({"type": "response.completed", "response": {"status": "completed",
        "usage": {"input_tokens": 9, "output_tokens": 5, "total_tokens": 14}}})
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
