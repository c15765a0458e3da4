//! Errors in the form of the client's API.

use antiphon::json::{Object, quote};
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::models::is_from_anthropics_client;
use crate::media_type;
use crate::request_id::RequestId;

/// The maximum size of an error answer. A longer one loses its body.
pub(super) const MAX_ERROR: usize = 1 << 20;

/// Writes the errors of requests of Anthropic's API in Anthropic's form, with `request-id`. Source:
/// Anthropic's documentation of errors.
pub(in crate::routes) async fn write_errors(request: Request, next: Next) -> Response {
    let is_anthropics = is_anthropics(request.uri().path(), request.headers());
    let id = request.extensions().get::<RequestId>().cloned();
    let response = next.run(request).await;
    match id {
        Some(id) if is_anthropics => in_anthropics_form(response, id.as_str()).await,
        _ => response,
    }
}

/// Whether the request is one of Anthropic's API. OpenAI's has models too.
fn is_anthropics(path: &str, headers: &HeaderMap) -> bool {
    let is_in = |root: &str| {
        path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    is_in("/messages") || is_in("/models") && is_from_anthropics_client(headers)
}

async fn in_anthropics_form(mut response: Response, id: &str) -> Response {
    if let Ok(id) = HeaderValue::from_str(id) {
        response.headers_mut().entry("request-id").or_insert(id);
    }
    let is_error = response.status().is_client_error() || response.status().is_server_error();
    if !is_error || !media_type::is_json(response.headers()) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(body) = to_bytes(body, MAX_ERROR).await else {
        return Response::from_parts(parts, Body::empty());
    };
    let error = Object::parse(&body).unwrap_or_default();
    if error.string("type").as_deref() == Some("error") {
        return Response::from_parts(parts, Body::from(body));
    }
    let error = error.present("error").and_then(|raw| Object::parse_str(raw).ok());
    let message = error.as_ref().and_then(|error| error.string("message")).unwrap_or_default();
    let (kind, message, id) = (error_type(parts.status), quote(&message), quote(id));
    let text = format!(
        r#"{{"type":"error","error":{{"type":"{kind}","message":{message}}},"request_id":{id}}}"#
    );
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(text))
}

/// The `type` of an error with this status.
fn error_type(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        503 | 529 => "overloaded_error",
        400..=499 => "invalid_request_error",
        _ => "api_error",
    }
}
