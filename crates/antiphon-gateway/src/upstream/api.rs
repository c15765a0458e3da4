//! What differs between the APIs that upstreams speak, outside the bodies.
//!
//! Source: the providers' references. Anthropic: `POST /v1/messages`, the headers `x-api-key` and
//! `anthropic-version`, and errors of the form `{"type":"error","error":{"type","message"}}`.

use antiphon::dialect::Dialect;
use bytes::Bytes;
use http::request::Builder;
use http::{HeaderName, header};
use serde_json::{Value, json};

use crate::settings::Secret;

const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Where requests for answers go, behind the base URL.
pub(super) fn path(api: Dialect) -> &'static str {
    match api {
        Dialect::Chat => "/chat/completions",
        Dialect::Anthropic => "/messages",
        Dialect::Responses | Dialect::AiSdk => "/responses",
    }
}

/// The request with what the API asks of every request, and with a key where there is one.
pub(super) fn signed(request: Builder, api: Dialect, key: Option<&Secret>) -> Builder {
    let is_anthropic = api == Dialect::Anthropic;
    let request = match is_anthropic {
        true => request.header("anthropic-version", ANTHROPIC_VERSION),
        false => request,
    };
    match key {
        Some(key) if is_anthropic => request.header("x-api-key", key.reveal()),
        Some(key) => request.header(header::AUTHORIZATION, format!("Bearer {}", key.reveal())),
        None => request,
    }
}

/// Whether a caller's header means something to a server of this API: OpenAI's own (organization,
/// project) are not Anthropic's.
pub(super) fn takes_header(api: Dialect, name: &HeaderName) -> bool {
    api != Dialect::Anthropic || !name.as_str().starts_with("openai-")
}

/// An error's body in the form that callers of the Responses API read. One that is in this form, or
/// of a server that speaks the Responses API, stays as it came.
pub(super) fn error_body(api: Dialect, body: Bytes) -> Bytes {
    if api == Dialect::Responses {
        return body;
    }
    let Ok(said) = serde_json::from_slice::<Value>(&body) else { return body };
    let is_ours = said["error"].is_object() && said["type"] != "error";
    if is_ours || !said.is_object() {
        return body;
    }
    let error = if said["error"].is_object() { &said["error"] } else { &said };
    let message = [&error["message"], &error["error"], &error["detail"]];
    let message = message.into_iter().find_map(Value::as_str);
    let Some(message) = message else { return body };
    let kind = error["type"].as_str().filter(|kind| *kind != "error");
    json!({"error": {
        "message": message,
        "type": kind.unwrap_or("upstream_error"),
        "param": error.get("param").filter(|param| param.is_string()),
        "code": error.get("code").filter(|code| code.is_string()),
    }})
    .to_string()
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ];
        for (body, message, kind) in cases {
            let told: Value =
                serde_json::from_slice(&error_body(Dialect::Chat, body.into())).unwrap();
            assert_eq!(told["error"]["message"], message);
            assert_eq!(told["error"]["type"], kind);
            assert_eq!(
                (&told["error"]["param"], &told["error"]["code"]),
                (&json!(null), &json!(null))
            );
        }
    }

    #[test]
    fn a_callers_organization_with_one_provider_is_not_told_to_another() {
        let organization = HeaderName::from_static("openai-organization");
        assert!(takes_header(Dialect::Chat, &organization));
        assert!(!takes_header(Dialect::Anthropic, &organization));
        assert!(takes_header(Dialect::Anthropic, &HeaderName::from_static("traceparent")));
    }

    #[test]
    fn what_is_in_that_form_or_in_none_stays_as_it_came() {
        for body in [r#"{ "error": {"message":"no","type":"x"}}"#, "<html>", "[]", "{}"] {
            assert_eq!(error_body(Dialect::Chat, body.into()), body);
        }
    }
}
