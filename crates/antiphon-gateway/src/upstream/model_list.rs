//! The list of a server's models, for commands that run no gateway.

use antiphon::dialect::Vendor;
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, header};
use serde_json::Value;

use super::api::{self, parse_models};
use super::client::UpstreamClient;
use crate::USER_AGENT;
use crate::settings::UpstreamSettings;

/// The answer of a server to `GET /models`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelList {
    /// The status.
    pub status: StatusCode,
    /// The server's time in Unix seconds, from the header `date`.
    pub date: Option<i64>,
    /// The names of the models. Empty if the answer is no list.
    pub models: Vec<String>,
    /// Whether the list goes on after these models.
    pub has_more: bool,
    /// The message of an error, or a sentence with its status. Empty if there is no error.
    pub error: String,
}

impl UpstreamClient {
    /// Requests the list of models in the API of the server, with the key of the settings. The time
    /// limits of the settings bound the request. The error is a clause about the server.
    pub async fn list_models(&self) -> Result<ModelList, String> {
        let request = models_request(self.settings())?;
        self.send(request).await.map(|answer| ModelList::from_answer(&answer))
    }
}

/// Anthropic's API returns 20 models at a time unless the request asks for more.
fn models_request(settings: &UpstreamSettings) -> Result<Request<Bytes>, String> {
    let base = settings.url.to_string();
    let path = match settings.api.vendor() {
        Vendor::OpenAi => "/models",
        Vendor::Anthropic => "/models?limit=1000",
    };
    let request = Request::get(format!("{}{path}", base.trim_end_matches('/')))
        .header(header::ACCEPT_ENCODING, "identity")
        .header(header::USER_AGENT, USER_AGENT)
        .body(Bytes::new());
    let mut request = request.map_err(|error| format!("the URL is not valid: {error}"))?;
    api::add_credentials(request.headers_mut(), settings.api, settings.key.as_ref())
        .map_err(|_| "the server cannot get the key: no header may have its characters")?;
    Ok(request)
}

impl ModelList {
    fn from_answer(answer: &Response<Bytes>) -> Self {
        let (status, body) = (answer.status(), answer.body());
        let fields: Value = serde_json::from_slice(body).unwrap_or_default();
        Self {
            status,
            date: date(answer.headers()),
            models: parse_models(body, "upstream").into_iter().map(|model| model.id).collect(),
            has_more: fields["has_more"].as_bool().unwrap_or_default(),
            error: if status.is_success() { String::new() } else { message(status, body) },
        }
    }
}

fn message(status: StatusCode, body: &Bytes) -> String {
    let error = api::error_body(status, body.clone());
    let error: Value = serde_json::from_slice(&error).unwrap_or_default();
    error["error"]["message"].as_str().unwrap_or_default().to_owned()
}

fn date(headers: &HeaderMap) -> Option<i64> {
    let date = httpdate::parse_http_date(headers.get(header::DATE)?.to_str().ok()?).ok()?;
    let since = date.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(status: u16, body: &'static str) -> ModelList {
        let answer = Response::builder().status(status);
        let answer = answer.header("date", "Thu, 01 Jan 1970 00:01:00 GMT");
        ModelList::from_answer(&answer.body(Bytes::from_static(body.as_bytes())).unwrap())
    }

    #[test]
    fn list_has_the_names_and_the_date() {
        let list = list(200, r#"{"data":[{"id":"a"},{"id":"b","type":"model"}],"has_more":true}"#);
        assert_eq!(list.models, ["a", "b"]);
        assert_eq!((list.date, list.has_more, list.error.as_str()), (Some(60), true, ""));
    }

    #[test]
    fn rejection_has_the_message_of_each_api() {
        let anthropic = r#"{"type":"error","error":{"type":"authentication_error","message":"x"}}"#;
        assert_eq!(list(401, anthropic).error, "x");
        assert_eq!(list(401, r#"{"error":{"message":"Incorrect key"}}"#).error, "Incorrect key");
        let sentence = "The upstream refused the request with status 404 Not Found.";
        assert_eq!(list(404, "<html>").error, sentence);
    }
}
