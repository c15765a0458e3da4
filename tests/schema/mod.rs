//! The shapes of the Open Responses specification, edition 2026-04-24.
//!
//! `open-responses.json` holds the schemas of its events and of the response object, without
//! their prose. Where the wire of OpenAI's API knows more (custom tools and other item types, raw
//! reasoning under another name), the specification is silent, and so is this check. So it is on
//! the schema of an answer's format, for which the document has `null` and nothing else.

use std::collections::HashMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("open-responses.json")).expect("it is JSON")
});

/// A validator for each event, by its type.
static EVENTS: LazyLock<HashMap<String, Validator>> = LazyLock::new(|| {
    let schemas = DOCUMENT["components"]["schemas"].as_object();
    let schemas = schemas.expect("the document holds schemas");
    let events = schemas.iter().filter(|(name, _)| name.ends_with("StreamingEvent"));
    let entry = |(name, schema): (&String, &Value)| {
        let kind = schema["properties"]["type"]["enum"][0].as_str();
        let kind = kind.expect("an event has a type");
        (kind.to_owned(), validator(name))
    };
    events.map(entry).collect()
});

static RESPONSE: LazyLock<Validator> = LazyLock::new(|| validator("ResponseResource"));

/// The item types that the specification knows.
const ITEMS: [&str; 5] =
    ["message", "function_call", "function_call_output", "reasoning", "compaction"];

/// The keys that every response object has.
const RESPONSE_KEYS: usize = 31;

fn validator(name: &str) -> Validator {
    let schema = json!({
        "$ref": format!("#/components/schemas/{name}"),
        "components": DOCUMENT["components"],
    });
    jsonschema::validator_for(&schema).expect("it is a schema")
}

/// An event has the shape that the specification gives it.
pub(crate) fn assert_event_shape(event: &Value) {
    if is_unknown(&event["item"]) {
        return;
    }
    let mut json = event.clone();
    leave_unknown(&mut json["response"]);
    if json["response"].is_null() {
        json.as_object_mut().expect("an event is an object").remove("response");
    }
    if let Some(validator) = event["type"].as_str().and_then(|kind| EVENTS.get(kind)) {
        assert_valid(validator, &json);
    }
}

/// A response object has all its keys, and what stands there is of the right type.
pub(crate) fn assert_response_shape(response: &Value) {
    let required = &DOCUMENT["components"]["schemas"]["ResponseResource"]["required"];
    let required = required.as_array().expect("keys are required");
    assert_eq!(required.len(), RESPONSE_KEYS);
    for key in required {
        let key = key.as_str().expect("a key is a string");
        assert!(response.get(key).is_some(), "a response has {key}: {response}");
    }
    let mut response = response.clone();
    leave_unknown(&mut response);
    assert_valid(&RESPONSE, &response);
}

fn assert_valid(validator: &Validator, json: &Value) {
    let errors: Vec<String> = validator
        .iter_errors(json)
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{json} is not valid: {errors:#?}");
}

fn is_unknown(item: &Value) -> bool {
    item["type"].as_str().is_some_and(|kind| !ITEMS.contains(&kind))
}

fn leave_unknown(response: &mut Value) {
    if let Some(output) = response.get_mut("output").and_then(Value::as_array_mut) {
        output.retain(|item| !is_unknown(item));
    }
    if let Some(tools) = response.get_mut("tools").and_then(Value::as_array_mut) {
        tools.retain(|tool| tool["type"] == "function");
    }
    if let Some(schema) = response.pointer_mut("/text/format/schema") {
        *schema = Value::Null;
    }
}
