//! Metadata of a conversation or a response.

use serde_json::Value;

use crate::Refusal;

const MOST_PAIRS: usize = 16;
const LONGEST_KEY: usize = 64;
const LONGEST_VALUE: usize = 512;

/// Checks metadata: at most 16 pairs of strings, keys of 64 characters, values of 512.
pub(crate) fn metadata(metadata: &Value) -> Result<(), Refusal> {
    let pairs = match metadata {
        Value::Null => return Ok(()),
        Value::Object(pairs) => pairs,
        other => return Err(Refusal::wrong_type("metadata", "an object", other)),
    };
    if pairs.len() > MOST_PAIRS {
        return Err(Refusal::too_many_properties("metadata", MOST_PAIRS, pairs.len()));
    }
    pairs.iter().try_for_each(|(key, value)| pair(key, value))
}

fn pair(key: &str, value: &Value) -> Result<(), Refusal> {
    let length = key.chars().count();
    if length > LONGEST_KEY {
        return Err(Refusal::too_long("metadata", LONGEST_KEY, length));
    }
    let param = format!("metadata.{key}");
    let Some(text) = value.as_str() else {
        return Err(Refusal::wrong_type(&param, "a string", value));
    };
    match text.chars().count() {
        length if length > LONGEST_VALUE => Err(Refusal::too_long(&param, LONGEST_VALUE, length)),
        _ => Ok(()),
    }
}
