//! Field types of a request. Null counts as absent, because clients send nulls for unset fields.

use serde_json::Value;

use super::metadata;
use crate::Refusal;

const MOST_TOOLS: usize = 128;
const FEWEST_OUTPUT_TOKENS: i64 = 16;

const FLAGS: [&str; 4] = ["background", "parallel_tool_calls", "store", "stream"];
const TEXTS: [&str; 6] = [
    "previous_response_id",
    "prompt_cache_key",
    "safety_identifier",
    "service_tier",
    "truncation",
    "user",
];
const OBJECTS: [&str; 4] = ["prompt", "reasoning", "stream_options", "text"];
/// The values of `include`. Source: the types of the provider's client.
const INCLUDES: [&str; 8] = [
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
];
const NUMBERS: [&str; 4] = ["frequency_penalty", "presence_penalty", "temperature", "top_p"];

pub(super) fn check(body: &Value) -> Result<(), Refusal> {
    check_type(body, &FLAGS, "a boolean", Value::is_boolean)?;
    check_type(body, &TEXTS, "a string", Value::is_string)?;
    check_type(body, &OBJECTS, "an object", Value::is_object)?;
    check_type(body, &NUMBERS, "a number", Value::is_number)?;
    check_type(body, &["include"], "an array of strings", Value::is_array)?;
    includes(&body["include"])?;
    check_type(body, &["input"], "a string or an array of objects", is_text_or_list)?;
    let is_conversation = |value: &Value| value.is_string() || value.is_object();
    check_type(body, &["conversation"], "a string or an object", is_conversation)?;
    bounded_array(body, "tools", MOST_TOOLS)?;
    output_tokens(body)?;
    metadata(&body["metadata"])
}

/// Checks that a field is an array of at most `maximum` elements, if it is there.
pub(crate) fn bounded_array(body: &Value, name: &str, maximum: usize) -> Result<(), Refusal> {
    check_type(body, &[name], "an array", Value::is_array)?;
    match body[name].as_array() {
        Some(array) if array.len() > maximum => {
            Err(Refusal::array_too_long(name, maximum, array.len()))
        }
        _ => Ok(()),
    }
}

fn check_type(
    body: &Value,
    names: &[&str],
    expected: &str,
    is: impl Fn(&Value) -> bool,
) -> Result<(), Refusal> {
    let wrong = names.iter().find(|name| !body[**name].is_null() && !is(&body[**name]));
    match wrong {
        Some(name) => Err(Refusal::wrong_type(name, expected, &body[*name])),
        None => Ok(()),
    }
}

fn is_text_or_list(value: &Value) -> bool {
    value.is_string() || value.is_array()
}

/// Checks that every value of `include` is a known one.
fn includes(values: &Value) -> Result<(), Refusal> {
    let values = values.as_array().map(Vec::as_slice).unwrap_or_default();
    values.iter().enumerate().try_for_each(|(index, value)| {
        let param = format!("include[{index}]");
        match value.as_str() {
            None => Err(Refusal::wrong_type(&param, "a string", value)),
            Some(name) if INCLUDES.contains(&name) => Ok(()),
            Some(name) => {
                let supported = INCLUDES.map(|name| format!("'{name}'")).join(", ");
                Err(Refusal::invalid_value(&param, name, &supported))
            }
        }
    })
}

fn output_tokens(body: &Value) -> Result<(), Refusal> {
    let name = "max_output_tokens";
    check_type(body, &[name], "an integer", |value| value.is_i64() || value.is_u64())?;
    match body[name].as_i64() {
        Some(count) if count < FEWEST_OUTPUT_TOKENS => {
            Err(Refusal::below_minimum(name, FEWEST_OUTPUT_TOKENS, &body[name]))
        }
        _ => Ok(()),
    }
}
