//! The provider's texts: `provider_errors.json` has those about items, in the same words as the
//! catalogue of the engine's reports, and `request_errors.json` all others.
//!
//! The catalogue has only data. This module parses and fills it with its own code, so that the
//! judge does not depend on the code under test.

use std::sync::LazyLock;

use http::StatusCode;
use serde_json::Value;

use super::{INVALID_REQUEST, Refusal};
use crate::Api;

static CATALOGUE: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let files = [include_str!("provider_errors.json"), include_str!("request_errors.json")];
    let errors = |text| serde_json::from_str::<Vec<Value>>(text);
    files.into_iter().flat_map(|text| errors(text).expect("an array of errors")).collect()
});

/// Builds the refusal with this name and fills its placeholders.
///
/// # Panics
/// If the catalogue has no such error, or a placeholder has no value.
pub(super) fn refusal(name: &str, values: &[(&str, &str)]) -> Refusal {
    let error = CATALOGUE.iter().find(|error| error["name"] == name);
    let error = error.unwrap_or_else(|| panic!("the catalogue has no error '{name}'"));
    let status = error["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let status = status.and_then(|status| StatusCode::from_u16(status).ok());
    let text = |field: &str| error[field].as_str();
    Refusal {
        api: Api::Responses,
        status: status.expect("every error has a status"),
        kind: INVALID_REQUEST,
        param: text("param").map(|param| fill(param, values)),
        code: text("code"),
        message: fill(text("message").expect("every error has a message"), values),
    }
}

/// Replaces each `{name}` in the template by its value.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let Some((before, rest)) = template.split_once('{') else {
        return template.to_owned();
    };
    let (name, after) = rest.split_once('}').expect("every brace is closed");
    let value = values.iter().find_map(|(known, value)| (*known == name).then_some(value));
    let value = value.unwrap_or_else(|| panic!("there is no value for '{name}'"));
    format!("{before}{value}{}", fill(after, values))
}
