//! Answers as Anthropic's clients read them.

use serde_json::{Value, json};

use crate::support::{Answer, Mode};

/// A message, and the headers that came with it.
pub(crate) struct Message {
    answer: Answer,
    pub(crate) json: Value,
}

impl Message {
    /// Reads an answer that went well.
    pub(crate) fn read(answer: &Answer, mode: Mode) -> Self {
        let json = match mode {
            Mode::Whole => answer.json(),
            Mode::Streamed => {
                assert_eq!(answer.status(), 200, "{:?}", answer.body());
                accumulate(&events(answer))
            }
        };
        assert_eq!(json["type"], "message", "{json}");
        assert_eq!(json["role"], "assistant");
        assert!(json["id"].as_str().is_some_and(|id| id.starts_with("msg_")), "{json}");
        Self { answer: answer.clone(), json }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.answer.header(name)
    }

    /// The blocks of this type.
    pub(crate) fn blocks(&self, kind: &str) -> Vec<&Value> {
        let blocks = self.json["content"].as_array().expect("a message has content");
        blocks.iter().filter(|block| block["type"] == kind).collect()
    }

    /// The text of all text blocks.
    pub(crate) fn text(&self) -> String {
        let blocks = self.blocks("text").into_iter();
        blocks.map(|block| block["text"].as_str().expect("it is text")).collect()
    }

    /// The ids of the calls.
    pub(crate) fn calls(&self) -> Vec<&str> {
        let calls = self.blocks("tool_use").into_iter();
        calls.map(|call| call["id"].as_str().expect("a call has an id")).collect()
    }

    pub(crate) fn stop_reason(&self) -> &str {
        self.json["stop_reason"].as_str().expect("the message has ended")
    }
}

/// The events of a stream. The name of each is its type.
pub(crate) fn events(answer: &Answer) -> Vec<Value> {
    let content_type = answer.header("content-type").expect("an answer has a type");
    assert!(content_type.starts_with("text/event-stream"), "{content_type}");
    let body = std::str::from_utf8(answer.body()).expect("the stream is UTF-8");
    let event = |frame: &str| {
        let (name, data) = frame.split_once('\n').expect("an event has two lines");
        let data = data.strip_prefix("data: ").expect("the second line is the data");
        let data: Value = serde_json::from_str(data).expect("data are JSON");
        assert_eq!(name.strip_prefix("event: "), data["type"].as_str());
        data
    };
    let frames = body.split("\n\n").filter(|frame| !frame.is_empty());
    frames.map(event).collect()
}

/// The message that Anthropic's clients accumulate from these events.
fn accumulate(events: &[Value]) -> Value {
    let mut message = Value::Null;
    let mut inputs = Vec::new();
    for event in events {
        let index = event["index"].as_u64().and_then(|index| usize::try_from(index).ok());
        match event["type"].as_str().expect("an event has a type") {
            "message_start" => message = event["message"].clone(),
            "content_block_start" => {
                let content = message["content"].as_array_mut().expect("the message has begun");
                assert_eq!(index, Some(content.len()), "blocks do not interleave");
                content.push(event["content_block"].clone());
                inputs.push(String::new());
            }
            "content_block_delta" => {
                let index = index.expect("a delta has an index");
                add_delta(&mut message["content"][index], &event["delta"], &mut inputs[index]);
            }
            "content_block_stop" => {
                let index = index.expect("a block has an index");
                if !inputs[index].is_empty() {
                    let input = serde_json::from_str(&inputs[index]).expect("inputs are JSON");
                    message["content"][index]["input"] = input;
                }
            }
            "message_delta" => {
                message["stop_reason"] = event["delta"]["stop_reason"].clone();
                for (key, count) in event["usage"].as_object().expect("it is an object") {
                    message["usage"][key] = count.clone();
                }
            }
            "message_stop" | "ping" => {}
            other => panic!("an unexpected event: {other}"),
        }
    }
    assert_eq!(events.last().map(|event| &event["type"]), Some(&json!("message_stop")));
    message
}

fn add_delta(block: &mut Value, delta: &Value, input: &mut String) {
    let key = match delta["type"].as_str().expect("a delta has a type") {
        "input_json_delta" => {
            input.push_str(delta["partial_json"].as_str().expect("it is text"));
            return;
        }
        "text_delta" => "text",
        "thinking_delta" => "thinking",
        "signature_delta" => "signature",
        other => panic!("an unexpected delta: {other}"),
    };
    let before = block[key].as_str().unwrap_or_default();
    block[key] = format!("{before}{}", delta[key].as_str().expect("it is text")).into();
}
