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

/// The names of all errors.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    CATALOGUE.iter().filter_map(|error| error["name"].as_str())
}

/// Builds the refusal with this name and fills its placeholders.
///
/// # Panics
/// If the catalogue has no such error, or a placeholder has no value.
pub(super) fn refusal(name: &str, values: &[(&str, &str)]) -> Refusal {
    find(name, values)
        .unwrap_or_else(|| panic!("the catalogue has no error '{name}' with these placeholders"))
}

/// Builds the refusal with this name and fills its placeholders. `None` if the catalogue has no
/// such error, or a placeholder has no value.
pub(super) fn find(name: &str, values: &[(&str, &str)]) -> Option<Refusal> {
    let error = CATALOGUE.iter().find(|error| error["name"] == name)?;
    let status = error["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let status = status.and_then(|status| StatusCode::from_u16(status).ok());
    let text = |field: &str| error[field].as_str();
    Some(Refusal {
        api: Api::Responses,
        status: status.expect("every error has a status"),
        kind: INVALID_REQUEST,
        param: match text("param") {
            Some(param) => Some(fill(param, values)?),
            None => None,
        },
        code: text("code"),
        message: fill(text("message").expect("every error has a message"), values)?,
    })
}

/// Replaces each `{name}` in the template by its value. `None` if a value is missing.
fn fill(template: &str, values: &[(&str, &str)]) -> Option<String> {
    let Some((before, rest)) = template.split_once('{') else {
        return Some(template.to_owned());
    };
    let (name, after) = rest.split_once('}').expect("every brace is closed");
    let value = values.iter().find_map(|(known, value)| (*known == name).then_some(value))?;
    Some(format!("{before}{value}{}", fill(after, values)?))
}
