//! Checks of values: bounds of numbers, lengths and characters of texts.

use antiphon::json::Object;

use crate::error::{ApiError, NumberSort};

use NumberSort::{Decimal, Integer};

/// A field, its numeric type, its minimum and its maximum.
///
/// Sources: the provider's reference, and the Open Responses specification for the penalties.
const BOUNDS: [(&str, NumberSort, i32, Option<i32>); 7] = [
    ("temperature", Decimal, 0, Some(2)),
    ("top_p", Decimal, 0, Some(1)),
    ("presence_penalty", Decimal, -2, Some(2)),
    ("frequency_penalty", Decimal, -2, Some(2)),
    ("top_logprobs", Integer, 0, Some(20)),
    ("max_output_tokens", Integer, 16, None),
    ("max_tool_calls", Integer, 1, None),
];

/// Checks the bounds of all numeric fields. Their types were checked before.
pub(super) fn check_numbers(fields: &Object<'_>) -> Result<(), ApiError> {
    for (field, sort, minimum, maximum) in BOUNDS {
        let Some(raw) = fields.present(field) else { continue };
        let number: f64 = raw.parse().map_err(|_| ApiError::NotJson)?;
        let (path, got) = (field.to_owned(), raw.to_owned());
        if number < f64::from(minimum) {
            return Err(ApiError::NumberBelowMinimum { path, sort, minimum: minimum.into(), got });
        }
        if let Some(maximum) = maximum.filter(|maximum| number > f64::from(*maximum)) {
            return Err(ApiError::NumberAboveMaximum { path, sort, maximum: maximum.into(), got });
        }
    }
    Ok(())
}

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
