//! `include`: additional output data.

use antiphon::json::{self, Object};
use serde_json::value::RawValue;

use super::wrong_type;
use crate::error::ApiError;

/// The value that requests encrypted reasoning.
pub(crate) const ENCRYPTED: &str = "reasoning.encrypted_content";

/// All valid values. Source: the official client's types.
const INCLUDABLE: [&str; 8] = [
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    ENCRYPTED,
    "message.output_text.logprobs",
];

/// Parses `include`. An unknown value is rejected with the list of valid values.
pub(crate) fn includes(fields: &Object<'_>) -> Result<Vec<String>, ApiError> {
    let Some(raw) = fields.present("include") else {
        return Ok(Vec::new());
    };
    let values: Vec<&RawValue> =
        serde_json::from_str(raw).map_err(|_| wrong_type("include", "an array of strings", raw))?;
    let included = values.iter().enumerate().map(|(position, raw)| {
        let path = format!("include[{position}]");
        let value =
            json::unquote(raw.get()).ok_or_else(|| wrong_type(&path, "a string", raw.get()))?;
        check_include(&path, &value)?;
        Ok(value.into_owned())
    });
    included.collect()
}

/// Checks that the value at `path` is valid.
pub(crate) fn check_include(path: &str, value: &str) -> Result<(), ApiError> {
    match INCLUDABLE.contains(&value) {
        true => Ok(()),
        false => Err(ApiError::InvalidValue {
            path: path.into(),
            value: value.into(),
            supported: &INCLUDABLE,
        }),
    }
}
