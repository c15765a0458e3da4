//! Numbers that have bounds.

use antiphon::json::Object;

use crate::error::ApiError;

/// A field, whether it is an integer, and its least and greatest value.
///
/// Source: the provider's reference; the Open Responses specification for the penalties.
const BOUNDS: [(&str, &str, i32, Option<i32>); 7] = [
    ("temperature", "decimal", 0, Some(2)),
    ("top_p", "decimal", 0, Some(1)),
    ("presence_penalty", "decimal", -2, Some(2)),
    ("frequency_penalty", "decimal", -2, Some(2)),
    ("top_logprobs", "integer", 0, Some(20)),
    ("max_output_tokens", "integer", 16, None),
    ("max_tool_calls", "integer", 1, None),
];

/// Numbers within their bounds. Their types were checked.
pub(super) fn check_numbers(fields: &Object<'_>) -> Result<(), ApiError> {
    for (field, kind, least, greatest) in BOUNDS {
        let Some(raw) = fields.present(field) else { continue };
        let number: f64 = raw.parse().map_err(|_| ApiError::not_json())?;
        if number < f64::from(least) {
            let code = below(kind);
            return Err(
                out_of_bounds(field, kind, "below minimum", format!(">= {least}"), raw).code(code)
            );
        }
        if let Some(greatest) = greatest.filter(|greatest| number > f64::from(*greatest)) {
            let code = above(kind);
            return Err(out_of_bounds(field, kind, "above maximum", format!("<= {greatest}"), raw)
                .code(code));
        }
    }
    Ok(())
}

fn below(kind: &str) -> &'static str {
    if kind == "integer" { "integer_below_min_value" } else { "decimal_below_min_value" }
}

fn above(kind: &str) -> &'static str {
    if kind == "integer" { "integer_above_max_value" } else { "decimal_above_max_value" }
}

fn out_of_bounds(field: &str, kind: &str, side: &str, bound: String, got: &str) -> ApiError {
    ApiError::invalid(format!(
        "Invalid '{field}': {kind} {side} value. Expected a value {bound}, but got {got} instead."
    ))
    .param(field)
}
