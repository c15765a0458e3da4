//! Answers as OpenAI's clients read them.

use serde_json::{Map, Value, json};

use crate::support::{Answer, Mode};

/// A completion, and the headers that came with it.
pub(crate) struct Completion {
    answer: Answer,
    pub(crate) json: Value,
}

impl Completion {
    /// Reads an answer that went well.
    pub(crate) fn read(answer: &Answer, mode: Mode) -> Self {
        let json = match mode {
            Mode::Whole => answer.json(),
            Mode::Streamed => {
                assert_eq!(answer.status(), 200, "{:?}", answer.body());
                accumulate(&chunks(answer))
            }
        };
        assert_eq!(json["object"], "chat.completion", "{json}");
        assert!(json["id"].as_str().is_some_and(|id| id.starts_with("chatcmpl")), "{json}");
        assert_eq!(json["choices"][0]["message"]["role"], "assistant");
        Self { answer: answer.clone(), json }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.answer.header(name)
    }

    pub(crate) fn message(&self) -> &Value {
        &self.json["choices"][0]["message"]
    }

    pub(crate) fn text(&self) -> &str {
        self.message()["content"].as_str().unwrap_or_default()
    }

    /// The ids of the calls.
    pub(crate) fn calls(&self) -> Vec<&str> {
        let calls = self.message()["tool_calls"].as_array().into_iter().flatten();
        calls.map(|call| call["id"].as_str().expect("a call has an id")).collect()
    }

    pub(crate) fn finish_reason(&self) -> &str {
        self.json["choices"][0]["finish_reason"].as_str().expect("the answer has ended")
    }
}

/// The chunks of a stream that ends with `[DONE]`.
fn chunks(answer: &Answer) -> Vec<Value> {
    let mut events = events(answer);
    assert_eq!(events.pop().as_deref(), Some("[DONE]"), "{events:?}");
    events.iter().map(|data| serde_json::from_str(data).expect("a chunk is JSON")).collect()
}

/// The data of the events of a stream.
pub(crate) fn events(answer: &Answer) -> Vec<String> {
    let content_type = answer.header("content-type").expect("an answer has a type");
    assert!(content_type.starts_with("text/event-stream"), "{content_type}");
    let body = std::str::from_utf8(answer.body()).expect("the stream is UTF-8");
    let frames = body.split("\n\n").filter(|frame| !frame.is_empty());
    frames.map(|frame| frame.strip_prefix("data: ").expect("an event is data").to_owned()).collect()
}

/// The completion that OpenAI's clients accumulate from these chunks.
fn accumulate(chunks: &[Value]) -> Value {
    let mut completion = chunks[0].clone();
    completion["object"] = "chat.completion".into();
    let (mut message, mut reason) = (Map::new(), Value::Null);
    for chunk in chunks {
        assert_eq!(chunk["id"], completion["id"]);
        if let Some(usage) = chunk.get("usage").filter(|usage| !usage.is_null()) {
            completion["usage"] = usage.clone();
        }
        for choice in chunk["choices"].as_array().expect("a chunk has choices") {
            add(&mut message, choice["delta"].as_object().expect("a choice has a delta"));
            if !choice["finish_reason"].is_null() {
                reason = choice["finish_reason"].clone();
            }
        }
    }
    for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
        call.as_object_mut().expect("it is an object").remove("index");
    }
    completion["choices"] = json!([{"index": 0, "message": message, "finish_reason": reason}]);
    completion
}

/// Adds a delta. Entries of lists have an index.
fn add(sum: &mut Map<String, Value>, delta: &Map<String, Value>) {
    for (key, value) in delta {
        match (sum.get_mut(key), value) {
            (Some(Value::String(text)), Value::String(more)) if key != "type" => {
                text.push_str(more);
            }
            (Some(Value::Object(known)), Value::Object(more)) => add(known, more),
            (Some(Value::Array(list)), Value::Array(more)) => {
                for entry in more {
                    let index = entry["index"].as_u64().expect("an entry has an index");
                    let index = usize::try_from(index).expect("it is small");
                    match (list.get_mut(index), entry) {
                        (Some(Value::Object(known)), Value::Object(more)) => add(known, more),
                        _ => list.push(entry.clone()),
                    }
                }
            }
            _ => drop(sum.insert(key.clone(), value.clone())),
        }
    }
}
