//! The response object around an answer.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::request::Request;

/// The model has no clock: every time is the beginning of Unix time.
const CREATED_AT: u64 = 0;

/// The response object: every key that the specification demands, with the value of the request or
/// the specification's default.
#[derive(Debug)]
pub(super) struct Envelope {
    fields: BTreeMap<&'static str, Value>,
}

/// The outcome of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Completed,
    /// The answer reached `max_output_tokens`.
    CutShort,
}

/// The number of words in and out. One word counts as one token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    pub(super) input: usize,
    /// All output, including the reasoning.
    pub(super) output: usize,
    pub(super) reasoning: usize,
}

impl Ending {
    /// The `status` of the response and of its last item.
    pub(super) fn status(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::CutShort => "incomplete",
        }
    }
}

impl Envelope {
    pub(super) fn from_request(request: &Request<'_>) -> Self {
        let mut fields = defaults();
        for (name, value) in &mut fields {
            if let Some(given) = request.echo(name) {
                *value = completed(name, given);
            }
        }
        fields.extend([
            ("id", json!(request.ids.response())),
            ("object", json!("response")),
            ("created_at", json!(CREATED_AT)),
            ("completed_at", Value::Null),
            ("status", json!("in_progress")),
            ("error", Value::Null),
            ("incomplete_details", Value::Null),
            ("output", json!([])),
            ("usage", Value::Null),
        ]);
        Self { fields }
    }

    /// The response object.
    pub(super) fn fields(&self) -> &BTreeMap<&'static str, Value> {
        &self.fields
    }

    /// Completes the response object with its outcome.
    pub(super) fn end(&mut self, ending: Ending, output: Vec<Value>, usage: Usage) {
        let (completed_at, details) = match ending {
            Ending::Completed => (json!(CREATED_AT), Value::Null),
            Ending::CutShort => (Value::Null, json!({ "reason": "max_output_tokens" })),
        };
        self.fields.extend([
            ("status", json!(ending.status())),
            ("completed_at", completed_at),
            ("incomplete_details", details),
            ("output", Value::Array(output)),
            ("usage", usage.written()),
        ]);
    }
}

impl Usage {
    fn written(self) -> Value {
        json!({
            "input_tokens": self.input,
            "input_tokens_details": { "cached_tokens": 0, "cache_write_tokens": 0 },
            "output_tokens": self.output,
            "output_tokens_details": { "reasoning_tokens": self.reasoning },
            "total_tokens": self.input + self.output,
        })
    }
}

/// The fields that the response copies from its request, with their defaults.
fn defaults() -> BTreeMap<&'static str, Value> {
    BTreeMap::from([
        ("background", json!(false)),
        ("frequency_penalty", json!(0)),
        ("instructions", Value::Null),
        ("max_output_tokens", Value::Null),
        ("max_tool_calls", Value::Null),
        ("metadata", json!({})),
        ("model", Value::Null),
        ("parallel_tool_calls", json!(true)),
        ("presence_penalty", json!(0)),
        ("previous_response_id", Value::Null),
        ("prompt_cache_key", Value::Null),
        ("reasoning", Value::Null),
        ("safety_identifier", Value::Null),
        ("service_tier", json!("default")),
        ("store", json!(true)),
        ("temperature", json!(1)),
        ("text", json!({ "format": { "type": "text" } })),
        ("tool_choice", json!("auto")),
        ("tools", json!([])),
        ("top_logprobs", json!(0)),
        ("top_p", json!(1)),
        ("truncation", json!("disabled")),
    ])
}

/// `given` with the keys that a response always has, even if the request omits them.
fn completed(field: &str, mut given: Value) -> Value {
    match (field, &mut given) {
        ("text", Value::Object(text)) => {
            text.retain(|_, value| !value.is_null());
            fill(text, [("format", json!({ "type": "text" }))]);
        }
        ("reasoning", Value::Object(reasoning)) => {
            fill(reasoning, [("effort", Value::Null), ("summary", Value::Null)]);
        }
        ("tools", Value::Array(tools)) => {
            let tools = tools.iter_mut().filter_map(Value::as_object_mut);
            tools
                .filter(|tool| tool.get("type") == Some(&json!("function")))
                .for_each(fill_function);
        }
        _ => {}
    }
    given
}

fn fill_function(tool: &mut Map<String, Value>) {
    let strict = ("strict", Value::Bool(true));
    fill(tool, [("description", Value::Null), ("parameters", Value::Null), strict]);
}

fn fill<const N: usize>(object: &mut Map<String, Value>, absent: [(&str, Value); N]) {
    for (key, value) in absent {
        object.entry(key).or_insert(value);
    }
}
