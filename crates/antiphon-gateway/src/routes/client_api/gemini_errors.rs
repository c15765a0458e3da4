//! Errors in Google's form.

use antiphon::dialect::gemini::Rejection;
use axum::response::Response;
use http::HeaderMap;

use super::error_form::{error_of, rewrite};
use super::gemini_models::is_from_gemini_client;

/// Whether the request is one of the Gemini API. OpenAI's has models below `/v1`, too.
pub(super) fn is_gemini(path: &str, headers: &HeaderMap) -> bool {
    let is_model = path == "/v1/models" || path.starts_with("/v1/models/");
    let is_beta = path == "/v1beta" || path.starts_with("/v1beta/");
    is_beta || is_model && is_from_gemini_client(headers)
}

/// Writes an error in Google's form.
pub(super) async fn in_googles_form(response: Response) -> Response {
    rewrite(response, |status, body| {
        let error = error_of(body);
        if error.present("status").is_some() {
            return None;
        }
        let message = error.string("message").unwrap_or_default();
        Some(Rejection::from_status(status.as_u16()).to_json(&message))
    })
    .await
}
