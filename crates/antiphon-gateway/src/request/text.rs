//! Checks of lengths and characters of texts.

use crate::error::ApiError;

/// Checks that a text has at most `maximum` characters.
pub(super) fn within(path: &str, text: &str, maximum: usize) -> Result<(), ApiError> {
    let length = text.chars().count();
    if length <= maximum {
        return Ok(());
    }
    Err(ApiError::StringTooLong { path: path.into(), maximum, length })
}

/// Checks that a name is not empty and consists of letters, digits, `_` and `-`.
pub(super) fn name(path: &str, text: &str) -> Result<(), ApiError> {
    let is_of_a_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !text.is_empty() && text.bytes().all(is_of_a_name) {
        return Ok(());
    }
    Err(ApiError::InvalidName { path: path.into() })
}
