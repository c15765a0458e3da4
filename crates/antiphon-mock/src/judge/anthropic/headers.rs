//! The headers: the API key and the version.

use http::HeaderMap;

use crate::Refusal;

const VERSIONS: [&str; 2] = ["2023-06-01", "2023-01-01"];

pub(super) fn check(headers: &HeaderMap) -> Result<(), Refusal> {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if header("x-api-key").is_none_or(str::is_empty) {
        return Err(Refusal::no_api_key());
    }
    match header("anthropic-version") {
        None => Err(Refusal::no_version()),
        Some(version) if !VERSIONS.contains(&version) => Err(Refusal::unknown_version(version)),
        Some(_) => Ok(()),
    }
}
