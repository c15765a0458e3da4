//! The connections to a server.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full};
use hyper::body::{Frame, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::crypto::ring;

use crate::timeouts::Deadlines;
use crate::{Error, ErrorKind};

/// The maximum number of bytes that a connection reads at once, which also bounds the head of an
/// answer.
const READ_BUFFER: usize = 64 << 10;

/// The maximum size of an answer in one piece.
const MAX_ANSWER: usize = 64 << 20;

/// The maximum size of an error.
const MAX_ERROR: usize = 1 << 20;

/// A client of servers over HTTP/1.1 and HTTP/2, with and without TLS. It follows no redirects.
pub type HttpsClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// Creates a client without connections. Each of them has to be open within `connect_timeout`.
///
/// It names its cryptography, because another dependency of the application may bring a second one.
pub fn https_client(connect_timeout: Duration) -> HttpsClient {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(connect_timeout));
    let https = HttpsConnectorBuilder::new()
        .with_provider_and_webpki_roots(ring::default_provider())
        .expect("ring has the versions of TLS")
        .https_or_http()
        .enable_http1()
        .enable_http2()
        .wrap_connector(http);
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_mins(1))
        .http1_max_buf_size(READ_BUFFER)
        .build(https)
}

/// The connections to one server. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Connection(HttpsClient);

/// An answer whose body is not read yet.
pub(crate) struct HttpAnswer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: AnswerBody,
}

/// The body of an answer, piece by piece.
pub(crate) struct AnswerBody {
    incoming: Incoming,
    deadlines: Deadlines,
}

impl Connection {
    pub(crate) fn new(connect_timeout: Duration) -> Self {
        Self(https_client(connect_timeout))
    }

    /// Sends a request. Redirects are not followed, because they would send keys to another server.
    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
        deadlines: Deadlines,
    ) -> Result<HttpAnswer, Error> {
        let server = server_name(request.uri());
        let answer = deadlines.wait(self.0.request(request)).await?;
        let answer = answer.map_err(|error| connection_error(&error, &server))?;
        let (head, incoming) = answer.into_parts();
        let encoding = head.headers.get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes);
        if !matches!(encoding, None | Some(b"" | b"identity")) {
            let reason = "it is compressed, although that was not requested";
            return Err(ErrorKind::UnexpectedAnswer(reason.to_owned()).into());
        }
        let body = AnswerBody { incoming, deadlines };
        Ok(HttpAnswer { status: head.status, headers: head.headers, body })
    }
}

impl HttpAnswer {
    /// Whether the body is an event stream, which was requested. Some servers give no type.
    pub(crate) fn is_event_stream(&self) -> bool {
        let media_type = self.headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
        media_type.is_none_or(|it| it.to_ascii_lowercase().starts_with("text/event-stream"))
    }

    /// Reads the whole body: an answer or an error up to its limit.
    pub(crate) async fn read(mut self) -> Result<(StatusCode, HeaderMap, Bytes), Error> {
        let is_success = self.status.is_success();
        let limit = if is_success { MAX_ANSWER } else { MAX_ERROR };
        let mut whole = BytesMut::new();
        while let Some(piece) = self.body.next().await {
            match piece {
                Ok(piece) if whole.len() + piece.len() <= limit => whole.extend_from_slice(&piece),
                // The status of an error counts without its body, too.
                _ if !is_success => break,
                Ok(_) => {
                    let reason = format!("it is longer than {limit} bytes");
                    return Err(ErrorKind::UnexpectedAnswer(reason).into());
                }
                Err(error) => return Err(error),
            }
        }
        Ok((self.status, self.headers, whole.freeze()))
    }
}

impl AnswerBody {
    /// The next bytes; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        loop {
            match self.deadlines.wait(self.incoming.frame()).await {
                Err(error) => return Some(Err(error)),
                Ok(None) => return None,
                Ok(Some(Err(_))) => return Some(Err(closed())),
                Ok(Some(Ok(frame))) => {
                    if let Ok(bytes) = Frame::into_data(frame) {
                        self.deadlines.record_progress();
                        return Some(Ok(bytes));
                    }
                }
            }
        }
    }

    /// Reads the end of a body that has arrived already, so that its connection can be used again.
    pub(crate) async fn drain(&mut self) {
        for _ in 0..4 {
            // The connection passes one piece at a time, in a task of its own.
            tokio::task::yield_now().await;
            if !matches!(self.incoming.frame().now_or_never(), Some(Some(Ok(_)))) {
                return;
            }
        }
    }
}

/// The host and the port of a URL, without a password that may be before them.
fn server_name(url: &Uri) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}{port}", url.host().unwrap_or_default())
}

fn closed() -> Error {
    ErrorKind::BrokeOff("the connection was closed".to_owned()).into()
}

fn connection_error(error: &ClientError, server: &str) -> Error {
    let mut reason = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        reason = cause.to_string();
        source = cause.source();
    }
    match error.is_connect() {
        true => ErrorKind::Unreachable(format!("{server}: {reason}")).into(),
        false => ErrorKind::BrokeOff(reason).into(),
    }
}
