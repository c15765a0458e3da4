//! A running gateway, over HTTP.

use std::time::Duration;

use antiphon_gateway::inspect::model::{ConversationPage, ConversationView};
use antiphon_gateway::inspect::{ListQuery, PageQuery};
use antiphon_gateway::settings::{Secret, UpstreamSettings};
use antiphon_gateway::{StreamedAnswer, UpstreamClient};
use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode, Uri, header};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::Failure;
use crate::gateway_url::is_gateway_url;
use crate::one_line::one_line;

/// The time limit of an answer.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum size of an answer.
const MAX_ANSWER: usize = 64 << 20;
/// The maximum length of an event in the stream of changes.
const MAX_EVENT: usize = 64 << 10;

/// A gateway, and the key for it.
pub(super) struct Remote {
    client: UpstreamClient,
    /// The URL without a slash at its end.
    base: String,
    key: Option<HeaderValue>,
}

impl Remote {
    /// The gateway at this URL. No error repeats the URL, because it may hold a key.
    pub(super) fn new(url: &str, key: Option<Secret>) -> Result<Self, Failure> {
        let base = url.trim_end_matches('/').to_owned();
        let uri = base.parse::<Uri>().ok().filter(is_gateway_url).ok_or_else(|| {
            Failure::usage(
                "--url: give the http or https URL of a gateway, such as http://127.0.0.1:8080",
            )
        })?;
        let credential = key.as_ref().map(bearer).transpose()?;
        let settings = UpstreamSettings {
            connect_timeout: TIMEOUT,
            first_byte_timeout: TIMEOUT,
            idle_timeout: Duration::MAX,
            total_timeout: Duration::MAX,
            max_answer: MAX_ANSWER,
            ..UpstreamSettings::new(uri, key)
        };
        Ok(Self { client: UpstreamClient::new(settings), base, key: credential })
    }

    pub(super) async fn conversations(
        &self,
        query: &ListQuery,
    ) -> Result<ConversationPage, Failure> {
        let parameters = [
            ("after", query.after.clone()),
            ("limit", query.limit.map(|limit| limit.to_string())),
            ("search", query.search.clone()),
            ("show", query.show.map(|part| part.name().to_owned())),
        ];
        let path = format!("/inspect/conversations.json{}", to_query(&parameters));
        self.load(&path).await?.ok_or_else(no_inspector)
    }

    pub(super) async fn conversation(
        &self,
        id: &str,
        page: &PageQuery,
    ) -> Result<Option<ConversationView>, Failure> {
        let parameters =
            [("after", page.after.clone()), ("limit", page.limit.map(|limit| limit.to_string()))];
        let (id, query) = (encoded(id), to_query(&parameters));
        self.load(&format!("/inspect/conversations/{id}.json{query}")).await
    }

    /// The value at a path; `None` if the gateway answers 404.
    async fn load<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>, Failure> {
        let answer = self.client.send(self.request(path)?).await.map_err(no_answer)?;
        match answer.status() {
            StatusCode::OK => serde_json::from_slice(answer.body())
                .map(Some)
                .map_err(|error| Failure::runtime(format!("the gateway's answer: {error}"))),
            StatusCode::NOT_FOUND => Ok(None),
            status => Err(refusal(status, answer.body())),
        }
    }

    /// Follows the changes of the tenant's conversations.
    pub(super) async fn follow(&self) -> Result<RemoteChanges, Failure> {
        let answer = self.client.open(self.request("/inspect/events")?).await.map_err(no_answer)?;
        match answer.status() {
            StatusCode::OK => Ok(RemoteChanges { answer, unread: Vec::new() }),
            StatusCode::NOT_FOUND => Err(no_inspector()),
            status => Err(refusal(status, b"")),
        }
    }

    fn request(&self, path: &str) -> Result<Request<Bytes>, Failure> {
        let mut request = Request::get(format!("{}{path}", self.base))
            .header(header::ACCEPT_ENCODING, "identity")
            .header(header::USER_AGENT, concat!("antiphon/", env!("CARGO_PKG_VERSION")));
        if let Some(key) = &self.key {
            request = request.header(header::AUTHORIZATION, key.clone());
        }
        request.body(Bytes::new()).map_err(|error| Failure::usage(format!("--url: {error}")))
    }
}

/// The stream of changes.
pub(super) struct RemoteChanges {
    answer: StreamedAnswer,
    unread: Vec<u8>,
}

impl RemoteChanges {
    /// Waits for the next event, or for the first comment. Returns `false` at the end of the
    /// stream.
    pub(super) async fn next(&mut self) -> Result<bool, Failure> {
        loop {
            if let Some(end) = self.unread.windows(2).position(|bytes| bytes == b"\n\n") {
                self.unread.drain(..end + 2);
                return Ok(true);
            }
            match self.answer.next().await {
                None => return Ok(false),
                Some(piece) => self.unread.extend(piece.map_err(no_answer)?),
            }
            if self.unread.len() > MAX_EVENT {
                return Err(Failure::runtime("the gateway sent an event without an end"));
            }
        }
    }
}

fn bearer(key: &Secret) -> Result<HeaderValue, Failure> {
    let text = Secret::new(format!("Bearer {}", key.reveal()));
    let mut value = HeaderValue::from_str(text.reveal())
        .map_err(|_| Failure::usage("--key: the key has characters that no header may have"))?;
    value.set_sensitive(true);
    Ok(value)
}

#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
fn no_answer(reason: String) -> Failure {
    Failure::runtime(format!("the gateway cannot be read: {}", one_line(&reason)))
}

fn no_inspector() -> Failure {
    Failure::runtime("the server at --url has no inspector: start the gateway with --inspect")
}

fn refusal(status: StatusCode, body: &[u8]) -> Failure {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = body["error"]["message"].as_str().unwrap_or("without a message");
    Failure::runtime(format!("the gateway answered {status}: {}", one_line(message)))
}

/// The parameters that have a value.
fn to_query(parameters: &[(&str, Option<String>)]) -> String {
    let given = parameters.iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
    let given: Vec<String> =
        given.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    if given.is_empty() { String::new() } else { format!("?{}", given.join("&")) }
}

/// The text with all bytes escaped that have a meaning in URLs.
fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(byte.into());
            }
            _ => write!(encoded, "%{byte:02X}").expect("a string takes all text"),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_escaped() {
        let parameters = [("after", None), ("search", Some("a&b é".to_owned()))];
        assert_eq!(to_query(&parameters), "?search=a%26b%20%C3%A9");
        assert_eq!(to_query(&[("after", None)]), "");
    }

    #[test]
    fn url_with_credentials_is_rejected() {
        for url in ["127.0.0.1:8080", "ftp://host", "http://user:pw@host"] {
            let Err(failure) = Remote::new(url, None) else { panic!("{url}") };
            assert!(!failure.to_string().contains("pw"));
        }
    }
}
