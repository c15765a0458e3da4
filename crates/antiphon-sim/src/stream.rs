//! The events of an answer, in their order.

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};

use super::decide::Call;
use super::envelope::{Ending, Envelope, Usage};
use super::ids::Ids;
use super::request::Request;
use super::text::{chunks, fragments};
use super::tools::Input;

/// A writer for the event stream: `response.created`, `response.in_progress`, items one after the
/// other, one terminal event, `[DONE]`.
///
/// An item is opened, filled and closed within one call, so no two items are ever open at once. The
/// position of an item in `output` is its `output_index`.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    ids: &'a Ids,
    envelope: Envelope,
    output: Vec<Value>,
    frames: Vec<Bytes>,
}

impl<'a> Stream<'a> {
    pub(super) fn open(request: &'a Request<'_>) -> Self {
        let envelope = Envelope::from_request(request);
        let mut stream =
            Self { ids: &request.ids, envelope, output: Vec::new(), frames: Vec::new() };
        let begun = json!({ "response": stream.envelope.fields() });
        stream.emit("response.created", &begun);
        stream.emit("response.in_progress", &begun);
        stream
    }

    /// Writes a reasoning item with `summary` as its only part.
    pub(super) fn reasoning(&mut self, summary: &str, encrypted: bool) {
        let part = |text: &str| json!({ "type": "summary_text", "text": text });
        let at = |field: &str, value: Value| json!({ "summary_index": 0, field: value });
        let encrypted = encrypted.then(|| self.ids.encrypted_content(self.output.len()));

        let mut open = self.open_item("rs_", json!({ "type": "reasoning", "summary": [] }));
        open.emit("response.reasoning_summary_part.added", at("part", part("")));
        for delta in chunks(summary) {
            open.emit("response.reasoning_summary_text.delta", at("delta", json!(delta)));
        }
        open.emit("response.reasoning_summary_text.done", at("text", json!(summary)));
        open.emit("response.reasoning_summary_part.done", at("part", part(summary)));
        open.item["summary"] = json!([part(summary)]);
        if let Some(encrypted) = encrypted {
            open.item["encrypted_content"] = json!(encrypted);
        }
        open.close(Ending::Completed);
    }

    /// Writes a call of a function or of a custom tool.
    pub(super) fn call(&mut self, call: &Call<'_>) {
        let wire = match call.tool.input {
            Input::Arguments(_) => &FUNCTION_CALL,
            Input::Text => &CUSTOM_TOOL_CALL,
        };
        let call_id = self.ids.call(self.output.len());

        let mut begun = json!({
            "type": wire.item, "call_id": call_id, "name": call.tool.name, wire.input: "",
        });
        if let Some(namespace) = &call.tool.namespace {
            begun["namespace"] = json!(namespace);
        }
        let mut open = self.open_item(wire.prefix, begun);
        for delta in fragments(&call.input) {
            open.emit(wire.delta, json!({ "delta": delta }));
        }
        open.emit(wire.done, json!({ wire.input: call.input }));
        open.item[wire.input] = json!(call.input);
        open.close(Ending::Completed);
    }

    /// Writes a message of one text part, with a delta for each of `words`.
    pub(super) fn message(&mut self, words: &[&str], phase: Option<&str>, ending: Ending) {
        let text = words.concat();
        let part = |text: &str| {
            let mut part = json!({ "type": "output_text", "text": text });
            part["annotations"] = json!([]);
            part["logprobs"] = json!([]);
            part
        };
        let at = |part: Value| json!({ "content_index": 0, "part": part });
        let said =
            |field: &str, text: &str| json!({ "content_index": 0, field: text, "logprobs": [] });

        let mut begun = json!({ "type": "message", "role": "assistant", "content": [] });
        if let Some(phase) = phase {
            begun["phase"] = json!(phase);
        }
        let mut open = self.open_item("msg_", begun);
        open.emit("response.content_part.added", at(part("")));
        for delta in words {
            open.emit("response.output_text.delta", said("delta", delta));
        }
        open.emit("response.output_text.done", said("text", &text));
        open.emit("response.content_part.done", at(part(&text)));
        open.item["content"] = json!([part(&text)]);
        open.close(ending);
    }

    /// Writes the terminal event and the end marker.
    pub(super) fn close(mut self, ending: Ending, usage: Usage) -> Vec<Bytes> {
        let kind = match ending {
            Ending::Completed => "response.completed",
            Ending::CutShort => "response.incomplete",
        };
        let output = std::mem::take(&mut self.output);
        self.envelope.end(ending, output, usage);
        let ended = json!({ "response": self.envelope.fields() });
        self.emit(kind, &ended);
        self.frames.push(Bytes::from_static(b"data: [DONE]\n\n"));
        self.frames
    }

    fn open_item(&mut self, prefix: &str, mut item: Value) -> OpenItem<'_, 'a> {
        item["id"] = json!(self.ids.item(prefix, self.output.len()));
        item["status"] = json!("in_progress");
        let open = OpenItem { stream: self, item };
        open.emit_item("response.output_item.added")
    }

    fn emit(&mut self, kind: &str, fields: &Value) {
        let event = Event { kind, sequence_number: self.frames.len(), fields };
        let json = serde_json::to_string(&event).expect("a tree of JSON values can be written");
        self.frames.push(Bytes::from(format!("event: {kind}\ndata: {json}\n\n")));
    }
}

/// The differences between the kinds of calls on the wire.
struct CallWire {
    prefix: &'static str,
    item: &'static str,
    /// The field for the input.
    input: &'static str,
    delta: &'static str,
    done: &'static str,
}

const FUNCTION_CALL: CallWire = CallWire {
    prefix: "fc_",
    item: "function_call",
    input: "arguments",
    delta: "response.function_call_arguments.delta",
    done: "response.function_call_arguments.done",
};

const CUSTOM_TOOL_CALL: CallWire = CallWire {
    prefix: "ctc_",
    item: "custom_tool_call",
    input: "input",
    delta: "response.custom_tool_call_input.delta",
    done: "response.custom_tool_call_input.done",
};

/// An item between its `added` and its `done` event.
struct OpenItem<'s, 'a> {
    stream: &'s mut Stream<'a>,
    item: Value,
}

impl OpenItem<'_, '_> {
    /// Writes an event within the item.
    fn emit(&mut self, kind: &str, mut fields: Value) {
        fields["item_id"] = self.item["id"].clone();
        fields["output_index"] = json!(self.stream.output.len());
        self.stream.emit(kind, &fields);
    }

    fn close(mut self, ending: Ending) {
        self.item["status"] = json!(ending.status());
        let OpenItem { stream, item } = self.emit_item("response.output_item.done");
        stream.output.push(item);
    }

    /// Writes an event that carries the item itself.
    fn emit_item(self, kind: &str) -> Self {
        let fields = json!({ "output_index": self.stream.output.len(), "item": self.item });
        self.stream.emit(kind, &fields);
        self
    }
}

/// One event: its type, its number, and the fields of its type.
#[derive(Serialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    sequence_number: usize,
    #[serde(flatten)]
    fields: &'a Value,
}
