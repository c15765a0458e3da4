//! Explains the error of a server that does not have the path of its configured API.

use antiphon::dialect::UpstreamApi;
use antiphon::json::Object;
use http::StatusCode;

use crate::error::UpstreamRejection;

/// Texts of servers without the path that do not contain it: of `FastAPI`, Go's `net/http`, Azure
/// and Starlette.
const TEXTS: [&str; 4] =
    ["Not Found", "404 page not found", "Resource not found", "Method Not Allowed"];

/// The beginning of the text for an error body without a message.
const NO_TEXT: &str = "The upstream refused the request with status ";

/// Adds the path and the setting of the API to the message, if the server does not have the `path`
/// below its base URL. A missing model or another missing object is no such error. Returns false
/// if it changes nothing.
pub(super) fn explain(rejection: &mut UpstreamRejection, api: UpstreamApi, path: &str) -> bool {
    const MISSING: [StatusCode; 3] =
        [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED, StatusCode::NOT_IMPLEMENTED];
    if !MISSING.contains(&rejection.status) {
        return false;
    }
    let Some(explained) = with_explanation(&rejection.body, api, path) else { return false };
    rejection.body = explained.into();
    true
}

fn with_explanation(body: &[u8], api: UpstreamApi, path: &str) -> Option<String> {
    let mut body = Object::parse(body).ok()?;
    let error = body.get("error")?.to_owned();
    let mut error = Object::parse_str(&error).ok()?;
    let message = error.string("message")?.trim_end_matches('.').to_owned();
    let is_about_path = message.contains(path)
        || message.starts_with(NO_TEXT)
        || TEXTS.iter().any(|text| message.eq_ignore_ascii_case(text));
    let explained = format!(
        "{message}. The upstream does not serve POST {path}, the path of the API '{api}'. If it \
         has another API, the operator can set that: --upstream-api, or 'api' below [[upstreams]]."
    );
    error.set_string("message", &explained);
    body.set("error", error.to_text());
    is_about_path.then(|| body.to_text())
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use serde_json::{Value, json};

    use super::*;

    fn explained(status: u16, message: &str) -> Option<Value> {
        let body = json!({"error": {"message": message, "type": "x", "param": "", "code": ""}});
        let status = StatusCode::from_u16(status).unwrap();
        let mut rejection =
            UpstreamRejection { status, headers: HeaderMap::new(), body: body.to_string().into() };
        let is_changed = explain(&mut rejection, UpstreamApi::Chat, "/v1/chat/completions");
        is_changed.then(|| rejection.error()["message"].take())
    }

    #[test]
    fn missing_path_is_explained_with_the_setting_of_the_api() {
        for (status, message) in [
            (404, "Invalid URL (POST /v1/chat/completions)"),
            (404, "Cannot POST /v1/chat/completions"),
            (404, "Not Found"),
            (404, "404 page not found"),
            (405, "Method Not Allowed"),
            (404, "The upstream refused the request with status 404 Not Found."),
        ] {
            let text = format!(
                "{}. The upstream does not serve POST /v1/chat/completions, the path of the API \
                 'chat'. If it has another API, the operator can set that: --upstream-api, or \
                 'api' below [[upstreams]].",
                message.trim_end_matches('.')
            );
            assert_eq!(explained(status, message), Some(text.into()), "{message}");
        }
    }

    /// The texts are those of Ollama, vLLM and OpenAI.
    #[test]
    fn other_errors_stay_as_they_are() {
        for (status, message) in [
            (404, "model \"llama9\" not found, try pulling it first"),
            (404, "The model `m` does not exist."),
            (404, "Conversation with id 'conv_1' not found."),
            (400, "Not Found"),
        ] {
            assert_eq!(explained(status, message), None, "{message}");
        }
    }
}
