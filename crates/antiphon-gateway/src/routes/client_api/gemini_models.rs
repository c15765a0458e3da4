//! `GET /v1beta/models` and `GET /v1beta/models/{model}`: models in the form of the Gemini API.
//!
//! Source: Google's reference of `models.list`.

use std::sync::Arc;

use antiphon::json::{Object, quote};
use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;

use super::super::extract::Path;
use super::super::json;
use super::super::models::{find_model, listed_models};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;

/// The methods of every model.
const METHODS: &str = r#"["generateContent","countTokens"]"#;

/// Whether the request comes from a client of the Gemini API, which has headers of its own.
pub(in crate::routes) fn is_from_gemini_client(headers: &HeaderMap) -> bool {
    ["x-goog-api-key", "x-goog-api-client"].iter().any(|name| headers.contains_key(*name))
}

/// `GET /v1beta/models`: the list has one page.
pub(in crate::routes) async fn list_gemini(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
) -> Response {
    json(gemini_list(&listed_models(&gateway, &caller).await))
}

/// The list of these models, which are in the form of OpenAI's Models API.
pub(in crate::routes) fn gemini_list(models: &[String]) -> String {
    let models: Vec<String> = models.iter().map(|model| gemini_model(model)).collect();
    format!(r#"{{"models":[{}]}}"#, models.join(","))
}

/// `GET /v1beta/models/{model}`
pub(in crate::routes) async fn show_gemini(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    Ok(json(gemini_model(&find_model(&gateway, &caller, &id).await?)))
}

/// A model, which is in the form of OpenAI's Models API, in Google's form.
pub(in crate::routes) fn gemini_model(model: &str) -> String {
    let model = Object::parse_str(model).unwrap_or_default();
    let id = model.string("id").unwrap_or_default();
    let name = quote(&format!("models/{id}"));
    let displayed = model.present("display_name").map_or_else(|| quote(&id), str::to_owned);
    format!(r#"{{"name":{name},"displayName":{displayed},"supportedGenerationMethods":{METHODS}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_of_openai_has_the_fields_of_google() {
        let expected = concat!(
            r#"{"name":"models/m-1","displayName":"m-1","#,
            r#""supportedGenerationMethods":["generateContent","countTokens"]}"#,
        );
        assert_eq!(gemini_model(r#"{"id":"m-1","object":"model","created":0}"#), expected);
    }
}
