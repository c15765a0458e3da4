//! A strict client: it follows a stream by Anthropic's documentation alone, reports violations, and
//! assembles the message.
//!
//! Sources: the order of events, the types of deltas and their blocks in Anthropic's documentation
//! of streaming; the exceptions of its clients; "`tool_use` ids must be unique".

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::stream::Event;

/// The result of a stream: a message or an error.
pub(super) fn read(events: &[Event]) -> Result<Value, String> {
    let mut client = Client::default();
    for (at, event) in events.iter().enumerate() {
        let json: Value = serde_json::from_slice(&event.data).map_err(|error| error.to_string())?;
        ensure(json["type"] == *event.kind, "an event is named otherwise than its type")?;
        ensure(!event.data.contains(&b'\n'), "an event is not in one line")?;
        client.take(&json).map_err(|broken| format!("{broken}, in event {at}: {json}"))?;
    }
    client.result.ok_or_else(|| "the stream does not end".to_owned())
}

type Checked = Result<(), String>;

fn ensure(holds: bool, broken: &str) -> Checked {
    if holds { Ok(()) } else { Err(broken.to_owned()) }
}

#[derive(Default)]
struct Client {
    message: Option<Value>,
    content: Vec<Value>,
    open: Option<Open>,
    tool_ids: HashSet<String>,
    result: Option<Value>,
}

/// The open block, and its input so far.
#[derive(Default)]
struct Open {
    input: String,
}

impl Client {
    fn take(&mut self, event: &Value) -> Checked {
        ensure(self.result.is_none(), "something follows the end")?;
        let kind = event["type"].as_str().ok_or("an event without a type")?;
        ensure((kind == "message_start") != self.message.is_some(), "message_start is the first")?;
        let has_stopped = self.message.as_ref().is_some_and(|it| !it["stop_reason"].is_null());
        ensure(!has_stopped || kind == "message_stop", "only message_stop follows message_delta")?;
        match kind {
            "message_start" => self.begin(&event["message"]),
            "content_block_start" => self.start(event),
            "content_block_delta" => self.apply_delta(event),
            "content_block_stop" => self.stop(event),
            "message_delta" => self.change(event),
            "message_stop" => self.end(has_stopped),
            "error" => self.fail(event),
            _ => Err("an event that Anthropic does not have".into()),
        }
    }

    fn begin(&mut self, message: &Value) -> Checked {
        ensure(message["type"] == "message" && message["role"] == "assistant", "no message")?;
        ensure(message["content"] == json!([]), "a message starts with content")?;
        ensure(message["stop_reason"].is_null(), "a message starts with its end")?;
        ensure(message["id"].as_str().is_some_and(|id| id.starts_with("msg_")), "its id")?;
        ensure(message["model"].is_string(), "its model")?;
        ensure(message["usage"]["input_tokens"].is_u64(), "its usage")?;
        self.message = Some(message.clone());
        Ok(())
    }

    fn start(&mut self, event: &Value) -> Checked {
        ensure(self.open.is_none(), "a block starts within another")?;
        ensure(event["index"] == self.content.len(), "indexes count up from 0")?;
        let block = &event["content_block"];
        match block["type"].as_str().ok_or("a block without a type")? {
            "text" => ensure(block["text"] == "", "text starts empty")?,
            "thinking" => ensure(block["thinking"] == "", "thinking starts empty")?,
            "tool_use" => {
                ensure(block["input"] == json!({}), "an input starts empty")?;
                ensure(block["name"].is_string(), "a call without a name")?;
                let id = block["id"].as_str().filter(|id| !id.is_empty());
                let id = id.ok_or("a call without an id")?.to_owned();
                ensure(self.tool_ids.insert(id), "tool_use ids must be unique")?;
            }
            _ => {}
        }
        self.content.push(block.clone());
        self.open = Some(Open::default());
        Ok(())
    }

    fn apply_delta(&mut self, event: &Value) -> Checked {
        let open = self.open.as_mut().ok_or("a delta of no block")?;
        ensure(event["index"] == self.content.len() - 1, "a delta of another block")?;
        let block = self.content.last_mut().expect("it is open");
        let (kind, delta) = (block["type"].as_str().unwrap().to_owned(), &event["delta"]);
        let has_input = kind.ends_with("tool_use");
        match (kind.as_str(), delta["type"].as_str().unwrap_or_default()) {
            ("text", "text_delta") => append(&mut block["text"], &delta["text"]),
            ("text", "citations_delta") => {
                let citations = &mut block["citations"];
                if citations.is_null() {
                    *citations = json!([]);
                }
                citations.as_array_mut().unwrap().push(delta["citation"].clone());
                ensure(delta["citation"]["type"].is_string(), "a citation without a type")
            }
            ("thinking", "thinking_delta") => append(&mut block["thinking"], &delta["thinking"]),
            ("thinking", "signature_delta") => {
                ensure(block["signature"] == "", "two signatures")?;
                append(&mut block["signature"], &delta["signature"])
            }
            (_, "input_json_delta") if has_input => {
                open.input.push_str(delta["partial_json"].as_str().ok_or("no text")?);
                Ok(())
            }
            _ => Err("a delta that its block cannot have".into()),
        }
    }

    fn stop(&mut self, event: &Value) -> Checked {
        let open = self.open.take().ok_or("no block is open")?;
        ensure(event["index"] == self.content.len() - 1, "another block is open")?;
        let input: Result<Value, _> = serde_json::from_str(&open.input);
        if !open.input.trim().is_empty() {
            let input = input.ok().filter(Value::is_object);
            let input = input.unwrap_or_else(|| json!({"_raw": open.input}));
            self.content.last_mut().expect("it was open")["input"] = input;
        }
        Ok(())
    }

    fn change(&mut self, event: &Value) -> Checked {
        ensure(self.open.is_none(), "the message ends within a block")?;
        let message = self.message.as_mut().expect("it began");
        ensure(event["delta"]["stop_reason"].is_string(), "no reason to stop")?;
        ensure(event["usage"]["output_tokens"].is_u64(), "no usage")?;
        message["stop_reason"] = event["delta"]["stop_reason"].clone();
        message["stop_sequence"] = event["delta"]["stop_sequence"].clone();
        message["usage"] = event["usage"].clone();
        Ok(())
    }

    fn end(&mut self, has_stopped: bool) -> Checked {
        ensure(has_stopped, "message_stop follows message_delta")?;
        let mut message = self.message.clone().expect("it began");
        message["content"] = self.content.clone().into();
        self.result = Some(message);
        Ok(())
    }

    fn fail(&mut self, event: &Value) -> Checked {
        ensure(self.open.is_none(), "the message fails within a block")?;
        let error = &event["error"];
        ensure(error["type"].is_string() && error["message"].is_string(), "no error")?;
        self.result = Some(event.clone());
        Ok(())
    }
}

fn append(text: &mut Value, piece: &Value) -> Checked {
    let piece = piece.as_str().ok_or("a piece that is no text")?;
    *text = format!("{}{piece}", text.as_str().unwrap_or_default()).into();
    Ok(())
}
