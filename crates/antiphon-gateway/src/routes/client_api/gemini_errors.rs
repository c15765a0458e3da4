//! Errors in Google's form.

use antiphon::dialect::gemini::Rejection;
use antiphon::json::Object;
use axum::body::{Body, to_bytes};
use axum::response::Response;
use http::{HeaderMap, header};

use super::error_form::MAX_ERROR;
use super::gemini_models::is_from_gemini_client;

/// Whether the request is one of the Gemini API. OpenAI's has models below `/v1`, too.
pub(super) fn is_gemini(path: &str, headers: &HeaderMap) -> bool {
    let is_model = path == "/v1/models" || path.starts_with("/v1/models/");
    let is_beta = path == "/v1beta" || path.starts_with("/v1beta/");
    is_beta || is_model && is_from_gemini_client(headers)
}

/// Writes an error in Google's form.
pub(super) async fn in_googles_form(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(body) = to_bytes(body, MAX_ERROR).await else {
        return Response::from_parts(parts, Body::empty());
    };
    let error = Object::parse(&body).unwrap_or_default();
    let error = error.present("error").and_then(|raw| Object::parse_str(raw).ok());
    let error = error.unwrap_or_default();
    if error.present("status").is_some() {
        return Response::from_parts(parts, Body::from(body));
    }
    let message = error.string("message").unwrap_or_default();
    let text = Rejection::from_status(parts.status.as_u16()).to_json(&message);
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(text))
}
