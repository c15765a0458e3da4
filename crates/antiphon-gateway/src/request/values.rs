//! Checks of values: bounds of numbers, lengths and characters of texts, and `metadata`.

use antiphon::json::{self, Object};

use super::wrong_type;
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

/// The maximum number of pairs, and the maximum length of keys and values in characters.
const MAX_PAIRS: usize = 16;
const MAX_KEY: usize = 64;
const MAX_VALUE: usize = 512;

/// `metadata`: at most 16 pairs of strings, keys up to 64 and values up to 512 characters.
pub(crate) fn metadata(fields: &Object<'_>) -> Result<Option<String>, ApiError> {
    let Some(raw) = fields.present("metadata") else {
        return Ok(None);
    };
    let object =
        Object::parse(raw.as_bytes()).map_err(|_| wrong_type("metadata", "an object", raw))?;
    let pairs = object.iter().count();
    if pairs > MAX_PAIRS {
        return Err(ApiError::TooMuchMetadata { maximum: MAX_PAIRS, count: pairs });
    }
    for (key, raw) in object.iter() {
        let path = format!("metadata.{key}");
        let value = json::unquote(raw).ok_or_else(|| wrong_type(&path, "a string", raw))?;
        within("metadata", key, MAX_KEY)?;
        within(&path, &value, MAX_VALUE)?;
    }
    Ok(Some(raw.to_owned()))
}
