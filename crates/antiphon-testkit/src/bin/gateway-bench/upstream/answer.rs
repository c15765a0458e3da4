//! Answers whose bytes are rendered once. Each copy gets its own ids.

use std::ops::Range;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::marker::Marker;

/// A rendered answer, in both forms.
pub(crate) struct Answer {
    json: Template,
    stream: Template,
    /// The place of each event in the stream.
    events: Vec<Range<usize>>,
}

/// Bytes with the places of the answer's number, and of the time in its ids.
struct Template {
    bytes: Vec<u8>,
    numbers: Vec<usize>,
    times: Vec<usize>,
}

/// The number in the templates. It has as many digits as the number of an answer is padded to.
const NUMBER: u64 = 7_070_707_070_707_070;

/// The time in the ids of the templates, followed by the part that is equal in all ids. OpenAI's
/// ids have 48 hexadecimal digits: 8 for the Unix seconds, 4 that grow within a second, and `8190`,
/// as in `msg_67ccd3acc8d48190a77525dc6de64b4104becb25c45c1d41`.
const TIME: &str = "7e7e7e7e7e7e";
const FIXED: &str = "81908190819081908190";

impl Answer {
    /// A text of so many deltas, a word each.
    pub(crate) fn text(deltas: usize) -> Self {
        let words = words(deltas);
        let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
        let item = |status, content: &[Value]| {
            json!({"id": id("msg"), "type": "message", "status": status,
                "role": "assistant", "content": content})
        };
        let at = json!({"item_id": id("msg"), "output_index": 0, "content_index": 0});
        let mut events = Events::new(&item("in_progress", &[]));
        events.add("response.content_part.added", &at, &json!({"part": part("")}));
        for word in &words {
            events.add("response.output_text.delta", &at, &json!({"delta": word, "logprobs": []}));
        }
        let text = words.concat();
        events.add("response.output_text.done", &at, &json!({"text": text, "logprobs": []}));
        events.add("response.content_part.done", &at, &json!({"part": part(&text)}));
        events.end(item("completed", &[part(&text)]))
    }

    /// A function call whose arguments have so many deltas.
    pub(crate) fn call(deltas: usize) -> Self {
        let mut pieces = words(deltas);
        pieces.insert(0, "{\"q\":\"".to_owned());
        pieces.push("\"}".to_owned());
        let item = |status: &str, arguments: &str| {
            json!({"id": id("fc"), "type": "function_call", "status": status,
                "name": "lookup", "call_id": format!("call_{NUMBER}"), "arguments": arguments})
        };
        let at = json!({"item_id": id("fc"), "output_index": 0});
        let mut events = Events::new(&item("in_progress", ""));
        for piece in &pieces {
            events.add("response.function_call_arguments.delta", &at, &json!({"delta": piece}));
        }
        let arguments = pieces.concat();
        let done = json!({"arguments": arguments, "name": "lookup"});
        events.add("response.function_call_arguments.done", &at, &done);
        events.end(item("completed", &arguments))
    }

    /// The text of so many deltas as a completion of Chat Completions.
    pub(crate) fn completion(deltas: usize) -> Self {
        let words = words(deltas);
        let head = json!({"id": format!("chatcmpl-{NUMBER}"), "object": "chat.completion.chunk",
            "created": 1_700_000_000, "model": "bench-model"});
        let mut events = Events::default();
        let mut add = |delta: Value, finish: Option<&str>| {
            let mut chunk = head.clone();
            chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
            events.push(&format!("data: {chunk}\n\n"));
        };
        add(json!({"role": "assistant", "content": ""}), None);
        for word in &words {
            add(json!({"content": word}), None);
        }
        add(json!({}), Some("stop"));
        events.push("data: [DONE]\n\n");
        let message = json!({"role": "assistant", "content": words.concat()});
        let mut completion = head.clone();
        completion["object"] = "chat.completion".into();
        completion["choices"] = json!([{"index": 0, "message": message, "finish_reason": "stop"}]);
        completion["usage"] =
            json!({"prompt_tokens": 20, "completion_tokens": 60, "total_tokens": 80});
        events.into_answer(&completion)
    }

    /// The text of so many deltas as a message of Anthropic's API.
    pub(crate) fn message(deltas: usize) -> Self {
        let words = words(deltas);
        let message = |content: &[Value], stop: Option<&str>, output_tokens: u64| {
            json!({"id": format!("msg_{NUMBER}"), "type": "message", "role": "assistant",
                "model": "bench-model", "content": content, "stop_reason": stop,
                "stop_sequence": null,
                "usage": {"input_tokens": 20, "output_tokens": output_tokens}})
        };
        let mut events = Events::default();
        let mut add = |event: Value| {
            let kind = event["type"].as_str().unwrap_or_default();
            events.push(&format!("event: {kind}\ndata: {event}\n\n"));
        };
        add(json!({"type": "message_start", "message": message(&[], None, 1)}));
        add(json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}}));
        for word in &words {
            add(json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": word}}));
        }
        add(json!({"type": "content_block_stop", "index": 0}));
        add(json!({"type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": null},
            "usage": {"output_tokens": 60}}));
        add(json!({"type": "message_stop"}));
        let text = json!({"type": "text", "text": words.concat()});
        let message = message(&[text], Some("end_turn"), 60);
        events.into_answer(&message)
    }

    /// The response as one JSON object.
    pub(crate) fn json(&self, number: u64) -> Bytes {
        self.json.render(number)
    }

    /// The events of the stream, each as its own bytes.
    pub(crate) fn events(&self, number: u64) -> Vec<Bytes> {
        let stream = self.stream.render(number);
        self.events.iter().map(|event| stream.slice(event.clone())).collect()
    }
}

/// An id in the form of OpenAI's.
fn id(prefix: &str) -> String {
    format!("{prefix}_{TIME}{FIXED}{NUMBER}")
}

/// The words of an answer. The first contains the mark.
fn words(count: usize) -> Vec<String> {
    let rest = (1..count).map(|index| format!(" word{:02}", index % 100));
    std::iter::once(Marker::Answer(NUMBER).to_string()).chain(rest).collect()
}

/// The events of one item.
#[derive(Default)]
struct Events {
    bytes: Vec<u8>,
    events: Vec<Range<usize>>,
}

impl Events {
    fn new(item: &Value) -> Self {
        let mut events = Self::default();
        for name in ["response.created", "response.in_progress"] {
            events.add(name, &json!({}), &json!({"response": response("in_progress", &[])}));
        }
        let first = json!({"output_index": 0, "item": item});
        events.add("response.output_item.added", &json!({}), &first);
        events
    }

    fn add(&mut self, name: &str, at: &Value, fields: &Value) {
        let number = self.events.len();
        let fields = [at, fields].into_iter().filter_map(Value::as_object).flatten();
        let fields: Map<_, _> = fields.map(|(key, value)| (key.clone(), value.clone())).collect();
        let fields = Value::Object(fields).to_string();
        // Providers send the type first.
        let fields = fields.trim_start_matches('{');
        let event = format!(r#"{{"type":"{name}","sequence_number":{number},{fields}"#);
        self.push(&format!("event: {name}\ndata: {event}\n\n"));
    }

    fn push(&mut self, text: &str) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(text.as_bytes());
        self.events.push(from..self.bytes.len());
    }

    fn end(mut self, item: Value) -> Answer {
        let done = json!({"output_index": 0, "item": item});
        self.add("response.output_item.done", &json!({}), &done);
        let response = response("completed", &[item]);
        self.add("response.completed", &json!({}), &json!({"response": response}));
        self.push("data: [DONE]\n\n");
        self.into_answer(&response)
    }

    /// These events, and the answer that is not streamed.
    fn into_answer(self, json: &Value) -> Answer {
        Answer {
            json: Template::new(json.to_string().into_bytes()),
            stream: Template::new(self.bytes),
            events: self.events,
        }
    }
}

fn response(status: &str, output: &[Value]) -> Value {
    let usage = json!({"input_tokens": 20, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 60, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 80});
    json!({"id": id("resp"), "object": "response", "created_at": 1_700_000_000,
        "completed_at": 1_700_000_001, "status": status, "background": false, "error": null,
        "incomplete_details": null, "instructions": null, "max_output_tokens": null,
        "max_tool_calls": null, "model": "bench-model", "output": output,
        "parallel_tool_calls": true, "previous_response_id": null, "prompt_cache_key": null,
        "reasoning": {"effort": null, "summary": null}, "safety_identifier": null,
        "service_tier": "default", "store": false, "temperature": 1.0,
        "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [],
        "top_logprobs": 0, "top_p": 1.0, "truncation": "disabled", "usage": usage,
        "user": null, "metadata": {}})
}

impl Template {
    fn new(bytes: Vec<u8>) -> Self {
        let places = |text: &str| memchr::memmem::find_iter(&bytes, text.as_bytes()).collect();
        let (numbers, times) = (places(&NUMBER.to_string()), places(TIME));
        Self { bytes, numbers, times }
    }

    /// A copy with this number and the present time.
    fn render(&self, number: u64) -> Bytes {
        let mut bytes = self.bytes.clone();
        let mut write = |places: &[usize], digits: &str| {
            for &place in places {
                bytes[place..place + digits.len()].copy_from_slice(digits.as_bytes());
            }
        };
        write(&self.numbers, &format!("{number:016}"));
        write(&self.times, &format!("{:012x}", id_time()));
        Bytes::from(bytes)
    }
}

/// The time since 1970 in units of 2^-16 seconds.
#[expect(clippy::disallowed_methods, reason = "ids contain the time, as the provider's do")]
fn id_time() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    (now.as_secs() << 16) + (u64::from(now.subsec_nanos()) << 16) / 1_000_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_has_its_number_in_each_id() {
        for answer in [Answer::text(3), Answer::call(3)] {
            let before = id_time();
            let json = answer.json(42);
            let response: Value = serde_json::from_slice(&json).unwrap();
            let id = response["id"].as_str().unwrap();
            assert!(id.starts_with("resp_") && id.ends_with(&format!("{FIXED}0000000000000042")));
            assert_eq!(id.len(), "resp_".len() + 48);
            let time = u64::from_str_radix(&id["resp_".len()..][..12], 16).unwrap();
            assert!((before..=id_time()).contains(&time), "{id}");
            let marks: Vec<Marker> = Marker::all_in(&json).collect();
            assert_eq!(marks, [Marker::Answer(42)]);
            let stream = answer.events(42).concat();
            for placeholder in [&NUMBER.to_string(), TIME] {
                assert!(memchr::memmem::find(&stream, placeholder.as_bytes()).is_none());
            }
        }
    }

    #[test]
    fn text_streams_one_event_per_delta() {
        let events = Answer::text(60).events(1);
        let is_delta = |event: &&Bytes| event.starts_with(b"event: response.output_text.delta\n");
        assert_eq!(events.iter().filter(is_delta).count(), 60);
        assert_eq!(events.last().unwrap().as_ref(), b"data: [DONE]\n\n");
    }
}
