//! Answers of the model, parsed from its event stream in the manner of a client.

#![expect(clippy::needless_pass_by_value, reason = "requests are written where they are passed")]

mod calls;
mod choices;
mod envelope;
mod lifecycle;
mod manners;
mod memory;
mod refusals;
mod replies;
mod schemas;
mod summaries;

use serde_json::{Value, json};

use super::{SimError, answer};

/// A whole answer: its events, without the end marker.
struct Answered {
    events: Vec<Value>,
}

/// The answer to a request with these fields; `model` is added.
fn ask(request: Value) -> Answered {
    try_ask(request).expect("the request is answered")
}

fn try_ask(mut request: Value) -> Result<Answered, SimError> {
    request["model"] = json!("sim");
    let events = answer(request.to_string().as_bytes())?
        .filter(|frame| &frame[..] != b"data: [DONE]\n\n")
        .map(|frame| {
            let frame = std::str::from_utf8(&frame).unwrap().to_owned();
            serde_json::from_str(frame.split_once("data: ").unwrap().1).unwrap()
        })
        .collect();
    Ok(Answered { events })
}

impl Answered {
    /// The response object of the terminal event.
    fn response(&self) -> &Value {
        &self.events.last().unwrap()["response"]
    }

    fn items(&self) -> &[Value] {
        self.response()["output"].as_array().unwrap()
    }

    /// The text of an answer that is one message.
    fn text(&self) -> &str {
        let [message] = self.items() else { panic!("not one item: {:?}", self.items()) };
        message["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {message}"))
    }

    /// The calls as (name, input). The input of a function is JSON.
    fn calls(&self) -> Vec<(String, Value)> {
        let calls = self.items().iter().filter(|item| item.get("call_id").is_some());
        calls
            .map(|call| {
                let input = match call["arguments"].as_str() {
                    Some(arguments) => serde_json::from_str(arguments).unwrap(),
                    None => call["input"].clone(),
                };
                (call["name"].as_str().unwrap().to_owned(), input)
            })
            .collect()
    }

    fn events_with_type(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["type"] == kind).collect()
    }
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn function(name: &str, parameters: Value) -> Value {
    json!({ "type": "function", "name": name, "parameters": parameters })
}

fn echo() -> Value {
    let properties = json!({ "message": { "type": "string" } });
    function("echo", json!({ "type": "object", "properties": properties, "required": ["message"] }))
}

fn get_weather() -> Value {
    let properties = json!({
        "city": { "type": "string" },
        "unit": { "type": "string", "enum": ["celsius", "fahrenheit"] },
    });
    function(
        "get_weather",
        json!({ "type": "object", "properties": properties, "required": ["city"] }),
    )
}

fn add() -> Value {
    let properties = json!({ "a": { "type": "number" }, "b": { "type": "number" } });
    function("add", json!({ "type": "object", "properties": properties, "required": ["a", "b"] }))
}
