//! A client of one server, for commands that run no gateway.

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use tokio::time::sleep;

use super::connection::{AnswerBody, Connection};
use super::error::UpstreamError;
use super::http::request_body;
use super::own_key::Mask;
use super::timeouts::Timeouts;
use crate::entropy::{from_now, random_byte, unix_now};
use crate::retry::{RetryPolicy, retry_after};
use crate::settings::UpstreamSettings;

/// Sends requests to one server, over the connections that a gateway has to its upstreams: they
/// have time limits, and they remove the key of the settings from every answer.
///
/// ```
/// use antiphon_gateway::UpstreamClient;
/// use antiphon_gateway::settings::{Secret, UpstreamSettings};
/// use bytes::Bytes;
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let url = "http://127.0.0.1:1/v1".parse().unwrap();
/// let client = UpstreamClient::new(UpstreamSettings::new(url, Some(Secret::new("sk-secret"))));
/// let request = http::Request::get("http://127.0.0.1:1/v1/models").body(Bytes::new()).unwrap();
/// assert!(client.send(request).await.is_err());
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct UpstreamClient {
    connection: Connection,
    settings: UpstreamSettings,
}

impl UpstreamClient {
    /// Creates a client with the key, the time limits and the retries of these settings.
    pub fn new(settings: UpstreamSettings) -> Self {
        Self { connection: Connection::new(&settings), settings }
    }

    pub(super) fn settings(&self) -> &UpstreamSettings {
        &self.settings
    }

    /// Sends a request and reads the whole answer, with any status. Headers are sent as they are,
    /// so the caller adds the key.
    ///
    /// A request that the server answers with status 429 or 5xx is retried. If the retries are used
    /// up, the last such answer is returned. A request without an answer is not retried: the server
    /// may have carried it out. The error is a clause about the server.
    pub async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, String> {
        let policy = RetryPolicy::from(&self.settings.retries);
        let mut retries = 0;
        loop {
            let answer = self.send_once(request.clone()).await;
            let answer = answer.map_err(|error| reason(&error))?;
            let requested = retry_after(answer.headers(), unix_now());
            match policy.delay(retries, requested, random_byte()) {
                Some(delay) if is_temporary(answer.status()) => sleep(delay).await,
                _ => return Ok(answer),
            }
            retries += 1;
        }
    }

    /// Sends a request once, and returns its answer as soon as that begins. The error is a clause
    /// about the server.
    pub async fn open(&self, request: Request<Bytes>) -> Result<StreamedAnswer, String> {
        let timeouts = Timeouts::new(&self.settings, from_now(self.settings.total_timeout));
        let sent = self.connection.request(request.map(request_body), Mask::Short);
        let answer = timeouts.wait(sent).await.and_then(|sent| sent);
        let answer = answer.map_err(|error| reason(&error))?;
        Ok(StreamedAnswer { status: answer.status, body: answer.body, timeouts })
    }

    async fn send_once(&self, request: Request<Bytes>) -> Result<Response<Bytes>, UpstreamError> {
        let timeouts = Timeouts::new(&self.settings, from_now(self.settings.total_timeout));
        let request = request.map(request_body);
        let sent = self.connection.request(request, Mask::Short);
        let mut answer = timeouts.wait(sent).await??;
        let body = answer.body.read_whole(self.settings.max_answer, timeouts).await?;
        Ok(response(answer.status, answer.headers, body))
    }
}

/// An answer that is read piece by piece.
pub struct StreamedAnswer {
    status: StatusCode,
    body: AnswerBody,
    timeouts: Timeouts,
}

impl StreamedAnswer {
    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The next bytes of the body; `None` at its end. The error is a clause about the server.
    pub async fn next(&mut self) -> Option<Result<Bytes, String>> {
        let next = self.body.next(&mut self.timeouts).await?;
        Some(next.map_err(|error| reason(&error)))
    }
}

/// The errors name the upstream of a gateway. This client has a server.
fn reason(error: &UpstreamError) -> String {
    error.to_string().replacen("The upstream", "the server", 1)
}

fn response(status: StatusCode, headers: HeaderMap, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

fn is_temporary(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()
}
