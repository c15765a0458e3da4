//! The differences between the upstream APIs that lie outside the bodies.
//!
//! Sources: the providers' references. Anthropic: `POST /v1/messages`, the headers `x-api-key` and
//! `anthropic-version`, and errors of the form `{"type":"error","error":{"type","message"}}`.

use std::borrow::Cow;

use antiphon::dialect::{UpstreamApi, Vendor};
use bytes::Bytes;
use http::request::Builder;
use http::{HeaderName, StatusCode, header};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::error_body::{ErrorBody, with_strings};
use crate::settings::Secret;

const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The path of requests for the output of a model, relative to the base URL. A path may contain the
/// model's name; in the paths of these APIs the body does.
pub(super) fn path(api: UpstreamApi, _model: &str) -> Cow<'static, str> {
    Cow::Borrowed(match api {
        UpstreamApi::Responses => "/responses",
        UpstreamApi::Chat => "/chat/completions",
        UpstreamApi::Anthropic => "/messages",
    })
}

/// Adds the headers that the API requires, and the key if there is one.
pub(super) fn signed(request: Builder, api: UpstreamApi, key: Option<&Secret>) -> Builder {
    let request = match api.vendor() {
        Vendor::OpenAi => request,
        Vendor::Anthropic => request.header("anthropic-version", ANTHROPIC_VERSION),
    };
    match key {
        Some(key) => {
            let (name, value) = credential(api, key);
            request.header(name, value.as_str())
        }
        None => request,
    }
}

/// The header that carries a key.
pub(super) fn credential(api: UpstreamApi, key: &Secret) -> (HeaderName, Zeroizing<String>) {
    let (name, value) = match api.vendor() {
        Vendor::OpenAi => (header::AUTHORIZATION, format!("Bearer {}", key.reveal())),
        Vendor::Anthropic => (HeaderName::from_static("x-api-key"), key.reveal().to_owned()),
    };
    (name, Zeroizing::new(value))
}

/// Whether a caller's header is forwarded to a server of this API. Anthropic does not receive
/// OpenAI's headers (organization, project).
pub(super) fn takes_header(api: UpstreamApi, name: &HeaderName) -> bool {
    match api.vendor() {
        Vendor::OpenAi => true,
        Vendor::Anthropic => !name.as_str().starts_with("openai-"),
    }
}

/// Converts an error body to the form of the Responses API.
///
/// A body that already has this form keeps its bytes, unless a field of the error that every client
/// reads is missing or is not a string: then that field is corrected. If the body is not a JSON
/// object or has no message, the result names only the status.
pub(super) fn error_body(status: StatusCode, body: Bytes) -> Bytes {
    let Ok(said) = serde_json::from_slice::<Map<String, Value>>(&body) else {
        return told_by_status(status);
    };
    let said = Value::Object(said);
    if said["error"].is_object() && said["type"] != "error" {
        return with_strings(body);
    }
    let holders = [&said["error"], &said["detail"]];
    let error = holders.into_iter().find(|holder| holder.is_object()).unwrap_or(&said);
    let fields = [&error["message"], &error["msg"], &error["error"], &error["detail"]];
    let Some(message) = fields.into_iter().find_map(message_of) else {
        return match said["detail"].is_object() {
            true => told(&said["detail"].to_string(), error, None),
            false => told_by_status(status),
        };
    };
    let param = said["detail"].get(0).map(|invalid| place_of(&invalid["loc"]));
    told(&message, error, param.as_deref())
}

fn told(message: &str, error: &Value, param: Option<&str>) -> Bytes {
    let kind = error["type"].as_str().filter(|kind| *kind != "error");
    let kind = kind.unwrap_or("upstream_error");
    let (param, code) = (error["param"].as_str().or(param), error["code"].as_str());
    ErrorBody { message, kind, param, code }.to_json().into()
}

/// The message of an error field: a string, an object's `message`, or `FastAPI`'s list of
/// validation errors, `[{"loc":["body","model"],"msg":"Field required","type":"missing"}]`.
fn message_of(field: &Value) -> Option<String> {
    let message = match field {
        Value::String(message) => message.clone(),
        Value::Object(fields) => fields.get("message").and_then(message_of)?,
        Value::Array(errors) => {
            let sentences: Vec<_> = errors.iter().filter_map(validation_error).collect();
            sentences.join("; ")
        }
        _ => return None,
    };
    Some(message).filter(|message| !message.is_empty())
}

fn validation_error(error: &Value) -> Option<String> {
    let message = error["msg"].as_str().or(error.as_str())?;
    let place = place_of(&error["loc"]);
    Some(if place.is_empty() { message.to_owned() } else { format!("{place}: {message}") })
}

/// Writes `["body","messages",0,"role"]` as `messages[0].role`.
fn place_of(location: &Value) -> String {
    let mut place = String::new();
    for segment in location.as_array().into_iter().flatten() {
        match segment {
            Value::Number(index) => place = format!("{place}[{index}]"),
            Value::String(name) if name == "body" && place.is_empty() => {}
            Value::String(name) if place.is_empty() => place.clone_from(name),
            Value::String(name) => place = format!("{place}.{name}"),
            _ => {}
        }
    }
    place
}

fn told_by_status(status: StatusCode) -> Bytes {
    let (kind, code) = match status {
        StatusCode::TOO_MANY_REQUESTS => ("too_many_requests", Some("rate_limit_exceeded")),
        _ if status.is_server_error() => ("server_error", Some("server_error")),
        _ => ("invalid_request_error", None),
    };
    let message = format!("The upstream refused the request with status {status}.");
    ErrorBody { message: &message, kind, param: None, code }.to_json().into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const STATUS: StatusCode = StatusCode::BAD_GATEWAY;

    #[test]
    fn errors_of_other_apis_are_told_in_the_form_that_callers_read() {
        let cases = [
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                "Overloaded",
                "overloaded_error",
            ),
            (
                r#"{"object":"error","message":"too long","type":"BadRequestError","code":400}"#,
                "too long",
                "BadRequestError",
            ),
            (r#"{"error":"model 'm' not found"}"#, "model 'm' not found", "upstream_error"),
            (r#"{"detail":"Not Found"}"#, "Not Found", "upstream_error"),
            (r#"{"detail":{"message":"No.","type":"x"}}"#, "No.", "x"),
            (r#"{"detail":{"error":"No."}}"#, "No.", "upstream_error"),
            (r#"{"detail":{"reason":"No."}}"#, r#"{"reason":"No."}"#, "upstream_error"),
            (r#"{"message":{"message":"No."}}"#, "No.", "upstream_error"),
        ];
        for (body, message, kind) in cases {
            let told: Value = serde_json::from_slice(&error_body(STATUS, body.into())).unwrap();
            let error = &told["error"];
            assert_eq!((&error["message"], &error["type"]), (&json!(message), &json!(kind)));
            assert_eq!((&error["param"], &error["code"]), (&json!(""), &json!("")));
        }
    }

    #[test]
    fn validation_errors_name_their_fields() {
        let body = r#"{"detail":[
            {"type":"missing","loc":["body","model"],"msg":"Field required","input":{}},
            {"type":"enum","loc":["body","messages",0,"role"],"msg":"Input should be 'user'"}]}"#;
        let told: Value = serde_json::from_slice(&error_body(STATUS, body.into())).unwrap();
        let message = "model: Field required; messages[0].role: Input should be 'user'";
        assert_eq!(told["error"]["message"], message);
        assert_eq!(told["error"]["param"], "model");
    }

    #[test]
    fn a_callers_organization_with_one_provider_is_not_told_to_another() {
        let organization = HeaderName::from_static("openai-organization");
        assert!(takes_header(UpstreamApi::Chat, &organization));
        assert!(!takes_header(UpstreamApi::Anthropic, &organization));
        assert!(takes_header(UpstreamApi::Anthropic, &HeaderName::from_static("traceparent")));
    }

    #[test]
    fn what_is_in_that_form_stays_as_it_came() {
        let body = r#"{ "error": {"message":"no","type":"x","param":"p","code":"c","n":1.50}}"#;
        assert_eq!(error_body(STATUS, body.into()), body);
    }

    #[test]
    fn of_what_says_nothing_only_the_status_is_told() {
        for body in ["<html>secret</html>", "[]", "", "null", "{}", r#"{"detail": 1.50}"#] {
            let told: Value = serde_json::from_slice(&error_body(STATUS, body.into())).unwrap();
            let message = "The upstream refused the request with status 502 Bad Gateway.";
            assert_eq!(told["error"]["message"], message);
            assert_eq!(told["error"]["type"], "server_error");
        }
    }
}
