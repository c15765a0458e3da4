//! The server under test, over HTTP.

use std::time::Duration;

use antiphon_gateway::UpstreamClient;
use antiphon_gateway::settings::{Secret, UpstreamSettings};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Uri, header};
use serde_json::Value;

use super::comparison::Answer;
use super::rule::Key;
use crate::failure::Failure;

/// The maximum size of an answer. The answers to the rules are small.
const MAX_ANSWER: usize = 4 << 20;

/// The server, and the credential for it.
pub(super) struct Server {
    client: UpstreamClient,
    /// The base URL without a slash at its end and without its query.
    base: String,
    /// The query of every request.
    query: Option<String>,
    header: HeaderName,
    key: Secret,
}

/// A request whose placeholders are filled.
#[derive(Debug)]
pub(super) struct ServerRequest {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Option<Vec<u8>>,
    pub(super) key: Key,
}

impl Server {
    /// The server at this URL. The errors never repeat the URL, because it may hold a key.
    pub(super) fn new(
        url: &str,
        key: Secret,
        header: Option<&str>,
        timeout: Duration,
    ) -> Result<Self, Failure> {
        let (base, query) = match url.split_once('?') {
            Some((base, query)) => (base, Some(query.to_owned())),
            None => (url, None),
        };
        let base = base.trim_end_matches('/');
        let uri = base.parse::<Uri>().ok().filter(is_base_url).ok_or_else(|| {
            Failure::usage(
                "--base-url: give an http or https URL without a user name and a password, such \
                 as https://api.openai.com/v1",
            )
        })?;
        let header = header.map_or(Ok(header::AUTHORIZATION), |name| {
            name.parse()
                .map_err(|_| Failure::usage(format!("--api-key-header: '{name}' is no header")))
        })?;
        let settings = UpstreamSettings {
            connect_timeout: timeout,
            first_byte_timeout: timeout,
            idle_timeout: timeout,
            total_timeout: timeout,
            max_answer: MAX_ANSWER,
            ..UpstreamSettings::new(uri, Some(key.clone()))
        };
        let server = Self {
            client: UpstreamClient::new(settings),
            base: base.to_owned(),
            query,
            header,
            key,
        };
        server
            .credential(server.key.reveal())
            .map_err(|_| Failure::usage("the key has characters that no header may have"))?;
        Ok(server)
    }

    /// The base URL, without its query.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// Sends a request. The error is the reason for which there is no answer.
    pub(super) async fn send(&self, request: &ServerRequest) -> Result<Answer, String> {
        let answer = self.client.send(self.http_request(request)?).await?;
        let status = answer.status();
        let text = String::from_utf8_lossy(answer.body()).into_owned();
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        match status.as_u16() {
            429 | 502..=504 | 529 => Err(unavailable(status.as_u16(), &body)),
            _ => Ok(Answer { status, body, text }),
        }
    }

    fn http_request(&self, request: &ServerRequest) -> Result<Request<Bytes>, String> {
        let credential = match &request.key {
            Key::None => None,
            Key::Own => Some(self.key.reveal()),
            Key::Other(key) => Some(&**key),
        };
        let mut builder = Request::builder()
            .method(&*request.method)
            .uri(self.url(&request.path))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT_ENCODING, "identity")
            .header(header::USER_AGENT, concat!("antiphon/", env!("CARGO_PKG_VERSION")));
        if let Some(key) = credential {
            let value = self.credential(key).map_err(|error| error.to_string())?;
            builder = builder.header(self.header.clone(), value);
        }
        let body = request.body.clone().unwrap_or_default();
        builder.body(body.into()).map_err(|error| error.to_string())
    }

    fn url(&self, path: &str) -> String {
        match &self.query {
            None => format!("{}{path}", self.base),
            Some(query) => {
                let separator = if path.contains('?') { '&' } else { '?' };
                format!("{}{path}{separator}{query}", self.base)
            }
        }
    }

    fn credential(&self, key: &str) -> Result<HeaderValue, http::header::InvalidHeaderValue> {
        let text = match self.header == header::AUTHORIZATION {
            true => Secret::new(format!("Bearer {key}")),
            false => Secret::new(key),
        };
        let mut value = HeaderValue::from_str(text.reveal())?;
        value.set_sensitive(true);
        Ok(value)
    }
}

fn is_base_url(uri: &Uri) -> bool {
    let is_plain = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    matches!(uri.scheme_str(), Some("http" | "https")) && is_plain
}

/// The reason of an answer that has nothing to do with the rule.
fn unavailable(status: u16, body: &Value) -> String {
    let message = body["error"]["message"].as_str().unwrap_or("without a message");
    format!("the server answered {status} to every attempt: {message}")
}
