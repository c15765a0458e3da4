//! Checks of lengths and characters of texts.

use crate::error::ApiError;

/// Checks that a text has at most `maximum` characters.
pub(super) fn within(path: &str, text: &str, maximum: usize) -> Result<(), ApiError> {
    let length = text.chars().count();
    if length <= maximum {
        return Ok(());
    }
    Err(ApiError::invalid(format!(
        "Invalid '{path}': string too long. Expected a string with maximum length {maximum}, but \
         got a string with length {length} instead."
    ))
    .code("string_above_max_length")
    .param(path))
}

/// Checks that a name is not empty and consists of letters, digits, `_` and `-`.
pub(super) fn name(path: &str, text: &str) -> Result<(), ApiError> {
    let is_of_a_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !text.is_empty() && text.bytes().all(is_of_a_name) {
        return Ok(());
    }
    Err(ApiError::invalid(format!(
        "Invalid '{path}': string does not match pattern. Expected a string that matches the \
         pattern '^[a-zA-Z0-9_-]+$'."
    ))
    .code("invalid_value")
    .param(path))
}
