//! Errors in the form of the client's API.

use antiphon::json::{Object, quote};
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use http::{HeaderMap, Method, StatusCode, header};

use super::gemini_errors::{in_googles_form, is_gemini};
use super::models::is_from_anthropics_client;
use crate::media_type;
use crate::request_id::RequestId;

/// The maximum size of an error answer. A longer one loses its body.
const MAX_ERROR: usize = 1 << 20;

/// An API whose errors have another form than OpenAI's.
enum Form {
    /// Source: Anthropic's documentation of errors.
    Anthropic,
    /// Source: Google's `google.rpc.Status` in JSON (docs/gemini.md).
    Google,
}

/// Writes the errors of requests of Anthropic's and of the Gemini API in the form of that API, also
/// those of unknown paths. Each answer of Anthropic's API gets `request-id`.
pub(in crate::routes) async fn write_errors<F: Future<Output = Response>>(
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let Some(form) = Form::of_request(&request) else { return next(request).await };
    let id = request.extensions().get::<RequestId>().cloned();
    let mut response = next(request).await;
    let is_error = response.status().is_client_error() || response.status().is_server_error();
    let is_error = is_error && media_type::is_json(response.headers());
    match (form, id) {
        (Form::Google, _) if is_error => in_googles_form(response).await,
        (Form::Anthropic, Some(id)) => {
            response.headers_mut().entry("request-id").or_insert(id.to_value());
            if is_error { in_anthropics_form(response, id.as_str()).await } else { response }
        }
        _ => response,
    }
}

impl Form {
    fn of_request(request: &Request) -> Option<Self> {
        let (path, headers) = (request.uri().path(), request.headers());
        let (is_anthropics, is_gemini) = (is_anthropics(path, headers), is_gemini(path, headers));
        // Only the Gemini API posts to a model: a request with headers of both is its own.
        let is_action = is_gemini && request.method() == Method::POST;
        match (is_anthropics, is_gemini) {
            (true, _) if !is_action => Some(Self::Anthropic),
            (_, true) => Some(Self::Google),
            _ => None,
        }
    }
}

/// Whether the request is one of Anthropic's API. OpenAI's has models too.
fn is_anthropics(path: &str, headers: &HeaderMap) -> bool {
    let is_in = |root: &str| {
        path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    is_in("/v1/messages") || is_in("/v1/models") && is_from_anthropics_client(headers)
}

async fn in_anthropics_form(response: Response, id: &str) -> Response {
    rewrite(response, |status, body| {
        if body.string("type").as_deref() == Some("error") {
            return None;
        }
        let error = error_of(body);
        let message = error.string("message").unwrap_or_default();
        let (kind, message, id) = (error_type(status), quote(&message), quote(id));
        let error = format!(r#"{{"type":"{kind}","message":{message}}}"#);
        Some(format!(r#"{{"type":"error","error":{error},"request_id":{id}}}"#))
    })
    .await
}

/// Replaces the body of an error by the text that `render` makes of it. `None` leaves the body.
pub(super) async fn rewrite(
    response: Response,
    render: impl FnOnce(StatusCode, &Object<'_>) -> Option<String>,
) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(body) = to_bytes(body, MAX_ERROR).await else {
        return Response::from_parts(parts, Body::empty());
    };
    let text = render(parts.status, &Object::parse(&body).unwrap_or_default());
    let Some(text) = text else { return Response::from_parts(parts, Body::from(body)) };
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(text))
}

/// The field `error` of an error's body; empty if there is none.
pub(super) fn error_of<'a>(body: &'a Object<'_>) -> Object<'a> {
    let error = body.present("error").and_then(|raw| Object::parse_str(raw).ok());
    error.unwrap_or_default()
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
