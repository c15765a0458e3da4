//! An upstream over HTTP.

use std::sync::Arc;
use std::time::Duration;

use antiphon::dialect::Dialect;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::api;
use super::body::{ByteStream, Reply, read_whole};
use super::error::{Refused, UpstreamError};
use super::models::{Model, models_of};
use crate::caller::Caller;
use crate::settings::{ModelPattern, Secret, UpstreamSettings};

/// The bound on an answer that does not stream.
const MAX_ANSWER: usize = 64 << 20;
/// The bound on an error's body.
const MAX_ERROR: usize = 1 << 20;

/// Headers of an error that callers act on.
const ERROR_HEADERS: [&str; 4] = ["content-type", "retry-after", "x-should-retry", "x-request-id"];

/// A server at one base URL.
pub(crate) struct HttpUpstream {
    models: Vec<ModelPattern>,
    api: Dialect,
    base: String,
    name: String,
    key: Option<Secret>,
    idle: Duration,
    /// How many answers may still be opened; `None`: any number.
    open: Option<Arc<Semaphore>>,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl HttpUpstream {
    pub(super) fn new(settings: &UpstreamSettings) -> Self {
        let base = settings.url.to_string().trim_end_matches('/').to_owned();
        let name = settings.url.authority().map_or_else(|| base.clone(), ToString::to_string);
        Self {
            models: settings.models.clone(),
            api: settings.api,
            base,
            name,
            key: settings.key.clone(),
            idle: settings.idle_timeout,
            open: settings.max_open.map(|count| Arc::new(Semaphore::new(count))),
            client: client(settings.connect_timeout),
        }
    }

    /// The server's name, by which the origin of items is known.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The API that it speaks.
    pub(super) fn api(&self) -> Dialect {
        self.api
    }

    /// Whether it answers for a model of this name.
    pub(super) fn takes(&self, model: &str) -> bool {
        self.models.iter().any(|pattern| pattern.takes(model))
    }

    /// Asks for an answer.
    pub(super) async fn respond(
        &self,
        body: Bytes,
        caller: &Caller,
    ) -> Result<Reply, UpstreamError> {
        let permit = self.permit()?;
        let mut answer = self.ask(Method::POST, api::path(self.api), body, caller).await?;
        let content_type = answer.headers().get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
        match content_type.split(';').next().unwrap_or_default().trim() {
            "text/event-stream" => Ok(Reply::Events(ByteStream::Received {
                body: answer.into_body(),
                idle: self.idle,
                _permit: permit,
            })),
            "application/json" => {
                read_whole(answer.body_mut(), MAX_ANSWER, self.idle).await.map(Reply::Whole)
            }
            other => Err(UpstreamError::Garbled(format!("content of type '{other}'"))),
        }
    }

    /// `GET /models`
    pub(super) async fn models(&self, caller: &Caller) -> Result<Vec<Model>, UpstreamError> {
        let mut answer = self.ask(Method::GET, "/models", Bytes::new(), caller).await?;
        let body = read_whole(answer.body_mut(), MAX_ERROR, self.idle).await?;
        Ok(models_of(&body, &self.name))
    }

    /// The right to open one more answer, for as long as it is held.
    fn permit(&self) -> Result<Option<OwnedSemaphorePermit>, UpstreamError> {
        let Some(open) = &self.open else { return Ok(None) };
        let permit = open.clone().try_acquire_owned();
        permit.map(Some).map_err(|_| UpstreamError::Busy)
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        caller: &Caller,
    ) -> Result<Response<Incoming>, UpstreamError> {
        let request = self.request(method, path, body, caller)?;
        let answer = match timeout(self.idle, self.client.request(request)).await {
            Err(_) => return Err(UpstreamError::TimedOut(self.idle)),
            Ok(Err(error)) => return Err(unreachable_because(&error)),
            Ok(Ok(answer)) => answer,
        };
        if answer.status() == StatusCode::OK { Ok(answer) } else { Err(self.refusal(answer).await) }
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        caller: &Caller,
    ) -> Result<Request<Full<Bytes>>, UpstreamError> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::USER_AGENT, concat!("antiphon/", env!("CARGO_PKG_VERSION")));
        request = api::signed(request, self.api, self.key.as_ref().or(caller.token.as_ref()));
        for (name, value) in &caller.headers {
            if api::takes_header(self.api, name) {
                request = request.header(name, value);
            }
        }
        request.body(Full::new(body)).map_err(|error| UpstreamError::Unreachable(error.to_string()))
    }

    /// An answer that is not 200. A redirect is not followed: it would carry keys elsewhere.
    async fn refusal(&self, mut answer: Response<Incoming>) -> UpstreamError {
        let status = answer.status();
        if !status.is_client_error() && !status.is_server_error() {
            return UpstreamError::Garbled(format!("status {status}"));
        }
        let headers = ERROR_HEADERS.iter().filter_map(|name| {
            let name = HeaderName::from_static(name);
            Some((name.clone(), answer.headers().get(name)?.clone()))
        });
        let headers: HeaderMap = headers.collect();
        match read_whole(answer.body_mut(), MAX_ERROR, self.idle).await {
            Ok(body) => {
                let body = api::error_body(self.api, body);
                UpstreamError::Refused(Box::new(Refused { status, headers, body }))
            }
            Err(error) => error,
        }
    }
}

fn client(connect_timeout: Duration) -> Client<HttpsConnector<HttpConnector>, Full<Bytes>> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(connect_timeout));
    let https = hyper_rustls::HttpsConnectorBuilder::new()
        .with_webpki_roots()
        .https_or_http()
        .enable_http1()
        .enable_http2()
        .wrap_connector(http);
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_mins(1))
        .build(https)
}

fn unreachable_because(error: &ClientError) -> UpstreamError {
    let mut reason = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        reason = cause.to_string();
        source = cause.source();
    }
    if error.is_connect() { UpstreamError::Unreachable(reason) } else { UpstreamError::BrokeOff }
}
