//! The `error` object of all errors, in a form that all clients read.
//!
//! In the provider's own errors, a missing `code` or `param` is null. Here it is an empty string,
//! because `@ai-sdk/open-responses` accepts only strings, and with null it shows the status instead
//! of the message. Other clients lose nothing: the official clients for Python and Node and
//! `@ai-sdk/openai` accept both, LangChain and Agent Framework treat both as absent, and the Agents
//! SDK looks for codes by name. Go's and other typed clients read null as an empty string anyway.

use antiphon::json::{Object, quote};
use bytes::Bytes;

/// The content of an error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorBody<'a> {
    pub(crate) message: &'a str,
    /// The field `type`.
    pub(crate) kind: &'a str,
    pub(crate) param: Option<&'a str>,
    pub(crate) code: Option<&'a str>,
}

impl ErrorBody<'_> {
    /// The body: an object with only the field `error`.
    pub(crate) fn to_json(self) -> String {
        format!(r#"{{"error":{}}}"#, self.to_object())
    }

    /// The `error` object. All of its fields are strings.
    pub(crate) fn to_object(self) -> String {
        let mut object = Object::default();
        object.set_string("message", self.message);
        object.set_string("type", self.kind);
        object.set_string("param", self.param.unwrap_or_default());
        object.set_string("code", self.code.unwrap_or_default());
        object.to_text()
    }
}

/// Converts `message`, `type`, `param` and `code` in the `error` of an upstream's body to strings.
/// If `message` is an object, its inner message replaces it, or else its JSON text. All other
/// fields stay the same. A body that needs no change, or has no `error` object, keeps its bytes.
pub(crate) fn with_strings(body: Bytes) -> Bytes {
    complete_error(&body).map_or(body, Bytes::from)
}

fn complete_error(body: &[u8]) -> Option<String> {
    let mut body = Object::parse(body).ok()?;
    let error = body.get("error")?.to_owned();
    let mut error = Object::parse(error.as_bytes()).ok()?;
    let fields = [("type", "upstream_error"), ("param", ""), ("code", "")];
    let missing: Vec<_> =
        fields.into_iter().filter(|(key, _)| error.string(key).is_none()).collect();
    for (key, default) in &missing {
        let text = error.present(key).map_or_else(|| (*default).to_owned(), str::to_owned);
        error.set(*key, quote(&text));
    }
    let message = error.present("message").filter(|raw| !raw.starts_with('"')).map(message_text);
    if let Some(message) = &message {
        error.set("message", quote(message));
    }
    let text = error.to_text();
    body.set("error", text);
    (!missing.is_empty() || message.is_some()).then(|| body.to_text())
}

/// The message in an object, or the JSON text.
fn message_text(raw: &str) -> String {
    let object = Object::parse(raw.as_bytes()).ok();
    let message = object.as_ref().and_then(|object| object.string("message"));
    message.map_or_else(|| raw.to_owned(), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(body: &'static str) -> String {
        String::from_utf8(with_strings(Bytes::from_static(body.as_bytes())).to_vec()).unwrap()
    }

    #[test]
    fn absent_fields_are_empty_strings() {
        let body = ErrorBody { message: "No.", kind: "server_error", param: None, code: None };
        let expected = r#"{"error":{"message":"No.","type":"server_error","param":"","code":""}}"#;
        assert_eq!(body.to_json(), expected);
    }

    #[test]
    fn missing_fields_of_an_upstreams_error_are_added() {
        let body = r#"{"error":{"message":"No.","n":1.50,"code":null,"param":7},"id": 1e2}"#;
        let expected = concat!(
            r#"{"error":{"message":"No.","n":1.50,"code":"","param":"7","type":"upstream_error"},"#,
            r#""id":1e2}"#,
        );
        assert_eq!(converted(body), expected);
    }

    #[test]
    fn message_of_another_type_becomes_a_string() {
        let converted_message = |message: &str| {
            let body =
                format!(r#"{{"error":{{"message":{message},"type":"x","param":"","code":"y"}}}}"#);
            let converted = with_strings(body.into());
            serde_json::from_slice::<serde_json::Value>(&converted).unwrap()["error"]["message"]
                .take()
        };
        assert_eq!(converted_message(r#"{"message":"No.","code":7}"#), "No.");
        assert_eq!(converted_message(r#"{"reason":"No."}"#), r#"{"reason":"No."}"#);
        assert_eq!(converted_message("[1]"), "[1]");
    }

    #[test]
    fn other_bodies_keep_their_bytes() {
        let complete = r#"{ "error": {"message":"No.","type":"x","param":"","code":"y"}}"#;
        for body in [complete, r#"{"detail": 1.50}"#, "[]", "<html>", r#"{"error": "No."}"#] {
            assert_eq!(converted(body), body);
        }
    }
}
