//! The differences between the upstream APIs that the dialects do not cover: paths, headers, errors
//! and lists of models.
//!
//! Sources: the providers' references. Anthropic: `POST /v1/messages`, the headers `x-api-key` and
//! `anthropic-version`, and errors of the form `{"type":"error","error":{"type","message"}}`.

use std::borrow::Cow;

use antiphon::dialect::{UpstreamApi, Vendor};
use antiphon::json::{Object, quote};
use bytes::Bytes;
use http::header::InvalidHeaderValue;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::error::{ErrorBody, with_strings};
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

/// Adds the headers that the API requires, and the key if there is one. Fails if the key contains a
/// character that a header may not have.
pub(super) fn add_credentials(
    headers: &mut HeaderMap,
    api: UpstreamApi,
    key: Option<&Secret>,
) -> Result<(), InvalidHeaderValue> {
    if api.vendor() == Vendor::Anthropic {
        let version = HeaderValue::from_static(ANTHROPIC_VERSION);
        headers.insert(HeaderName::from_static("anthropic-version"), version);
    }
    if let Some(key) = key {
        let (name, value) = credential(api, key);
        headers.insert(name, HeaderValue::from_str(&value)?);
    }
    Ok(())
}

/// The start of the tokens that Anthropic issues to people who log in. It accepts them only as
/// bearer tokens, and API keys in both headers.
const ANTHROPIC_LOGIN: &str = "sk-ant-oat";

/// The header that carries a key.
pub(super) fn credential(api: UpstreamApi, key: &Secret) -> (HeaderName, Zeroizing<String>) {
    let (name, value) = match api.vendor() {
        Vendor::Anthropic if !key.reveal().starts_with(ANTHROPIC_LOGIN) => {
            (HeaderName::from_static("x-api-key"), key.reveal().to_owned())
        }
        Vendor::OpenAi | Vendor::Anthropic => {
            (header::AUTHORIZATION, format!("Bearer {}", key.reveal()))
        }
    };
    (name, Zeroizing::new(value))
}

/// Whether a caller's header is forwarded to a server of this API. No vendor receives the headers
/// of the other: OpenAI's organization and project, Anthropic's betas.
pub(super) fn forwards_header(api: UpstreamApi, name: &HeaderName) -> bool {
    match api.vendor() {
        Vendor::OpenAi => !name.as_str().starts_with("anthropic-"),
        Vendor::Anthropic => !name.as_str().starts_with("openai-"),
    }
}

/// Converts an error body to the form of the Responses API.
///
/// A body that already has this form keeps its bytes, unless a field of the error that every client
/// reads is missing or is not a string: then that field is corrected. If the body is not a JSON
/// object or has no message, the result names only the status.
pub(super) fn error_body(status: StatusCode, body: Bytes) -> Bytes {
    let Ok(answer) = serde_json::from_slice::<Map<String, Value>>(&body) else {
        return error_from_status(status);
    };
    let answer = Value::Object(answer);
    if answer["error"].is_object() && answer["type"] != "error" {
        return with_strings(body);
    }
    let holders = [&answer["error"], &answer["detail"]];
    let error = holders.into_iter().find(|holder| holder.is_object()).unwrap_or(&answer);
    let fields = [&error["message"], &error["msg"], &error["error"], &error["detail"]];
    let Some(message) = fields.into_iter().find_map(message_of) else {
        return match answer["detail"].is_object() {
            true => write_error(&answer["detail"].to_string(), error, None),
            false => error_from_status(status),
        };
    };
    let param = answer["detail"].get(0).map(|invalid| field_path(&invalid["loc"]));
    write_error(&message, error, param.as_deref())
}

fn write_error(message: &str, error: &Value, param: Option<&str>) -> Bytes {
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
    let path = field_path(&error["loc"]);
    Some(if path.is_empty() { message.to_owned() } else { format!("{path}: {message}") })
}

/// Writes `["body","messages",0,"role"]` as `messages[0].role`.
fn field_path(location: &Value) -> String {
    let mut path = String::new();
    for segment in location.as_array().into_iter().flatten() {
        match segment {
            Value::Number(index) => path = format!("{path}[{index}]"),
            Value::String(name) if name == "body" && path.is_empty() => {}
            Value::String(name) if path.is_empty() => path.clone_from(name),
            Value::String(name) => path = format!("{path}.{name}"),
            _ => {}
        }
    }
    path
}

fn error_from_status(status: StatusCode) -> Bytes {
    let (kind, code) = match status {
        StatusCode::TOO_MANY_REQUESTS => ("too_many_requests", Some("rate_limit_exceeded")),
        _ if status.is_server_error() => ("server_error", Some("server_error")),
        _ => ("invalid_request_error", None),
    };
    let message = format!("The upstream refused the request with status {status}.");
    ErrorBody { message: &message, kind, param: None, code }.to_json().into()
}

/// A model, as the Models API lists it.
pub(super) struct Model {
    pub(super) id: String,
    pub(super) json: String,
}

/// The models of a `GET /models` answer. Models in Anthropic's form are converted to the form of
/// the Models API.
pub(super) fn parse_models(body: &[u8], owner: &str) -> Vec<Model> {
    let data = |body: &Object<'_>| {
        let models: Vec<Object<'_>> = serde_json::from_str(body.get("data")?).ok()?;
        Some(models.into_iter().filter_map(|model| to_openai_model(model, owner)).collect())
    };
    Object::parse(body).ok().as_ref().and_then(data).unwrap_or_default()
}

fn to_openai_model(mut model: Object<'_>, owner: &str) -> Option<Model> {
    let id = model.string("id")?.into_owned();
    if model.string("object").as_deref() != Some("model") {
        model.set("object", r#""model""#);
        model.set("created", "0");
        model.set("owned_by", quote(owner));
        for key in ["type", "created_at"] {
            model.remove(key);
        }
    }
    Some(Model { json: model.to_text(), id })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const STATUS: StatusCode = StatusCode::BAD_GATEWAY;

    #[test]
    fn errors_of_other_apis_are_converted() {
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
            let converted: Value =
                serde_json::from_slice(&error_body(STATUS, body.into())).unwrap();
            let error = &converted["error"];
            assert_eq!((&error["message"], &error["type"]), (&json!(message), &json!(kind)));
            assert_eq!((&error["param"], &error["code"]), (&json!(""), &json!("")));
        }
    }

    #[test]
    fn validation_errors_name_their_fields() {
        let body = r#"{"detail":[
            {"type":"missing","loc":["body","model"],"msg":"Field required","input":{}},
            {"type":"enum","loc":["body","messages",0,"role"],"msg":"Input should be 'user'"}]}"#;
        let converted: Value = serde_json::from_slice(&error_body(STATUS, body.into())).unwrap();
        let message = "model: Field required; messages[0].role: Input should be 'user'";
        assert_eq!(converted["error"]["message"], message);
        assert_eq!(converted["error"]["param"], "model");
    }

    #[test]
    fn login_of_anthropic_is_a_bearer_token() {
        let header = |key| credential(UpstreamApi::Anthropic, &Secret::new(key)).0;
        assert_eq!(header("sk-ant-api03-x"), "x-api-key");
        assert_eq!(header("sk-ant-oat01-x"), header::AUTHORIZATION);
    }

    #[test]
    fn headers_of_one_vendor_are_not_sent_to_another() {
        let organization = HeaderName::from_static("openai-organization");
        assert!(forwards_header(UpstreamApi::Chat, &organization));
        assert!(!forwards_header(UpstreamApi::Anthropic, &organization));
        assert!(forwards_header(UpstreamApi::Anthropic, &HeaderName::from_static("traceparent")));
        let betas = HeaderName::from_static("anthropic-beta");
        assert!(forwards_header(UpstreamApi::Anthropic, &betas));
        assert!(!forwards_header(UpstreamApi::Responses, &betas));
    }

    #[test]
    fn errors_in_the_api_form_keep_their_bytes() {
        let body = r#"{ "error": {"message":"no","type":"x","param":"p","code":"c","n":1.50}}"#;
        assert_eq!(error_body(STATUS, body.into()), body);
    }

    #[test]
    fn errors_without_a_message_name_the_status() {
        for body in ["<html>secret</html>", "[]", "", "null", "{}", r#"{"detail": 1.50}"#] {
            let converted: Value =
                serde_json::from_slice(&error_body(STATUS, body.into())).unwrap();
            let message = "The upstream refused the request with status 502 Bad Gateway.";
            assert_eq!(converted["error"]["message"], message);
            assert_eq!(converted["error"]["type"], "server_error");
        }
    }
}
