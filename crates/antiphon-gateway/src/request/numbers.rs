//! Bounds of numeric fields.

use antiphon::json::Object;

use crate::error::ApiError;

use Sort::{Decimal, Integer};

/// The name of a numeric type in the provider's errors.
#[derive(Clone, Copy)]
enum Sort {
    Decimal,
    Integer,
}

/// A field, its numeric type, its minimum and its maximum.
///
/// Sources: the provider's reference, and the Open Responses specification for the penalties.
const BOUNDS: [(&str, Sort, i32, Option<i32>); 7] = [
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
    for (field, sort, least, greatest) in BOUNDS {
        let Some(raw) = fields.present(field) else { continue };
        let number: f64 = raw.parse().map_err(|_| ApiError::not_json())?;
        if number < f64::from(least) {
            return Err(below(field, sort, least, raw));
        }
        if let Some(greatest) = greatest.filter(|greatest| number > f64::from(*greatest)) {
            return Err(above(field, sort, greatest, raw));
        }
    }
    Ok(())
}

fn below(field: &str, sort: Sort, least: i32, got: &str) -> ApiError {
    let (sort, code) = match sort {
        Decimal => ("decimal", "decimal_below_min_value"),
        Integer => ("integer", "integer_below_min_value"),
    };
    ApiError::invalid(format!(
        "Invalid '{field}': {sort} below minimum value. Expected a value >= {least}, but got {got} \
         instead."
    ))
    .code(code)
    .param(field)
}

fn above(field: &str, sort: Sort, greatest: i32, got: &str) -> ApiError {
    let (sort, code) = match sort {
        Decimal => ("decimal", "decimal_above_max_value"),
        Integer => ("integer", "integer_above_max_value"),
    };
    ApiError::invalid(format!(
        "Invalid '{field}': {sort} above maximum value. Expected a value <= {greatest}, but got \
         {got} instead."
    ))
    .code(code)
    .param(field)
}
