//! An upstream over HTTP.

use std::fmt::Display;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use antiphon::dialect::UpstreamApi;
use antiphon::stream::ReasoningForm;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::AnswerForm;
use super::api::{self, Model, parse_models};
use super::body::{ByteStream, ReceivedBody, Reply};
use super::body_kind::BodyKind;
use super::connection::{Connection, HttpAnswer};
use super::error::UpstreamError;
use super::missing_path;
use super::own_key::Mask;
use super::rejection_log::log_rejection;
use super::timeouts::Timeouts;
use crate::USER_AGENT;
use crate::caller::Caller;
use crate::chunks::Chunks;
use crate::entropy::from_now;
use crate::error::UpstreamRejection;
use crate::media_type::media_type;
use crate::metrics::{UpstreamCounters, UpstreamMetrics};
use crate::request_id::{REQUEST_ID, RequestId};
use crate::settings::{Capabilities, ModelPattern, Retries, State, UpstreamSettings};
use crate::span::ErrorType as _;
use crate::trace::{AttemptSpan, SentBy};

/// The maximum size of an error body.
const MAX_ERROR: usize = 1 << 20;

/// Error headers that clients evaluate.
const ERROR_HEADERS: [&str; 4] =
    ["retry-after", "retry-after-ms", "x-should-retry", "x-request-id"];

/// The body of a request to an upstream.
pub(crate) type RequestBody = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// A server at one base URL.
pub(crate) struct HttpUpstream {
    pub(super) settings: UpstreamSettings,
    pub(super) base: String,
    name: String,
    /// The number of answers that may still be opened. `None` means no limit.
    open: Option<Arc<Semaphore>>,
    detected: DetectedCapabilities,
    pub(super) connection: Connection,
    pub(super) counters: UpstreamCounters,
}

/// The capabilities of one upstream, as detected from its answers.
///
/// ```text
///            ┌──── no result ──────┐
///            v                     │
///   Unknown ── a request needs it ──> Probing ── result ──> Found
/// ```
///
/// One task at a time sends the probe, and the others wait for its result. The result stays valid
/// until the gateway stops.
#[derive(Default)]
pub(crate) struct DetectedCapabilities {
    pub(crate) capabilities: OnceLock<Capabilities>,
    pub(crate) probe_lock: Mutex<()>,
    /// The number of probes without a result.
    pub(crate) failures: AtomicUsize,
}

impl HttpUpstream {
    pub(super) fn new(settings: &UpstreamSettings, metrics: &UpstreamMetrics) -> Self {
        let base = settings.url.to_string().trim_end_matches('/').to_owned();
        let name = settings.url.authority().map_or_else(|| base.clone(), ToString::to_string);
        Self {
            settings: settings.clone(),
            base,
            counters: metrics.counters(settings.name.as_deref().unwrap_or(&name)),
            name,
            open: settings.max_open.map(|count| Arc::new(Semaphore::new(count))),
            detected: DetectedCapabilities::default(),
            connection: Connection::new(settings),
        }
    }

    /// The server's name, which identifies the origin of items.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The name in logs.
    pub(crate) fn label(&self) -> &str {
        self.public_name().unwrap_or(&self.name)
    }

    /// The name from the configuration. Callers may see it, but never the host of the upstream.
    pub(crate) fn public_name(&self) -> Option<&str> {
        self.settings.name.as_deref()
    }

    /// The base URL without a slash at the end. It identifies the owner of stored state.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The base URL as it stands in the settings.
    pub(crate) fn url(&self) -> &Uri {
        &self.settings.url
    }

    /// The API of this upstream.
    pub(super) fn api(&self) -> UpstreamApi {
        self.settings.api
    }

    /// Whether this upstream serves a model with this name.
    pub(super) fn serves(&self, model: &str) -> bool {
        self.settings.models.iter().any(|pattern| pattern.takes(model))
    }

    /// Whether this upstream serves models of all names.
    pub(super) fn serves_all(&self) -> bool {
        self.settings.models.contains(&ModelPattern::new("*"))
    }

    /// Whether this upstream receives a key of the operator instead of the callers' tokens.
    pub(crate) fn has_own_key(&self) -> bool {
        self.settings.key.is_some()
    }

    /// The owner of new conversations and responses of this upstream's models.
    pub(crate) fn state(&self) -> State {
        self.settings.state
    }

    /// The configured capabilities of an upstream that owns its state.
    pub(crate) fn configured_capabilities(&self) -> Option<Capabilities> {
        self.settings.capabilities
    }

    /// The detected capabilities.
    pub(crate) fn detected(&self) -> &DetectedCapabilities {
        &self.detected
    }

    /// The context window of its models in tokens, if known.
    pub(super) fn context_window(&self) -> Option<u64> {
        self.settings.context_window.map(u64::from)
    }

    /// The form of its reasoning for clients.
    pub(super) fn reasoning(&self) -> ReasoningForm {
        self.settings.reasoning
    }

    /// Whether it streams answers to callers that do not stream.
    pub(super) fn always_streams(&self) -> bool {
        self.settings.always_streams()
    }

    /// Whether this upstream receives the callers' own tokens.
    pub(super) fn receives_tokens(&self) -> bool {
        self.settings.key.is_none()
    }

    /// The maximum size in bytes of one event of an answer, or of an answer in one piece.
    pub(crate) fn max_answer(&self) -> usize {
        self.settings.max_answer
    }

    /// The retry settings, and the total time limit of an answer.
    pub(crate) fn retry_settings(&self) -> (Retries, Duration) {
        (self.settings.retries.clone(), self.settings.total_timeout)
    }

    /// Requests model output. The answer must be complete at `end`.
    pub(super) async fn respond(
        &self,
        model: &str,
        (body, form): (Chunks, AnswerForm),
        by: (&Caller, SentBy<'_>),
        end: Instant,
    ) -> Result<Reply, UpstreamError> {
        let permit = self.permit()?;
        let timeouts = Timeouts::new(&self.settings, end);
        let mut timeouts = match form {
            AnswerForm::Events => timeouts,
            AnswerForm::Whole => timeouts.for_whole_answer(),
        };
        let path = api::path(self.settings.api, model);
        let answer = self.exchange((Method::POST, &path), body, by, timeouts).await;
        let mut answer = answer.map_err(|error| self.explain_missing_path(error, &path))?;
        check_uncompressed(&answer)?;
        match detect_kind(&mut answer, &mut timeouts).await? {
            BodyKind::Events => Ok(Reply::Events(ByteStream::Received(Box::new(ReceivedBody {
                body: answer.body,
                timeouts,
                _permit: permit,
            })))),
            BodyKind::Json => {
                let limit = self.settings.max_answer;
                answer.body.read_whole(limit, timeouts).await.map(Reply::Whole)
            }
            BodyKind::Unknown => Err(unexpected_type("")),
        }
    }

    /// Sends a request to `path`, relative to the base URL, for an answer of one JSON object.
    pub(crate) async fn call(
        &self,
        (method, path): (Method, &str),
        body: Bytes,
        by: (&Caller, SentBy<'_>),
        end: Instant,
    ) -> Result<Bytes, UpstreamError> {
        let _permit = self.permit()?;
        let timeouts = Timeouts::new(&self.settings, end);
        let mut answer = self.exchange((method, path), body.into(), by, timeouts).await?;
        check_uncompressed(&answer)?;
        match media_type(&answer.headers).as_str() {
            "application/json" | "" => {
                answer.body.read_whole(self.settings.max_answer, timeouts).await
            }
            other => Err(unexpected_type(other)),
        }
    }

    /// `GET /models`
    pub(super) async fn models(&self, caller: &Caller) -> Result<Vec<Model>, UpstreamError> {
        let timeouts = Timeouts::new(&self.settings, from_now(self.settings.total_timeout));
        let by = (caller, SentBy::first(&caller.trace));
        let request = (Method::GET, "/models");
        let mut answer = self.exchange(request, Chunks::default(), by, timeouts).await?;
        let body = answer.body.read_whole(MAX_ERROR, timeouts).await?;
        Ok(parse_models(&body, self.public_name().unwrap_or("upstream")))
    }

    /// Reserves one open answer until the permit is dropped.
    pub(super) fn permit(&self) -> Result<Option<OwnedSemaphorePermit>, UpstreamError> {
        let Some(open) = &self.open else { return Ok(None) };
        let permit = open.clone().try_acquire_owned();
        permit.map(Some).map_err(|_| UpstreamError::Busy)
    }

    async fn exchange(
        &self,
        (method, path): (Method, &str),
        body: Chunks,
        (caller, cause): (&Caller, SentBy<'_>),
        timeouts: Timeouts,
    ) -> Result<HttpAnswer, UpstreamError> {
        let span = AttemptSpan::start(cause, &method, (self.label(), self.url(), path));
        let mut request = self.request(method, path, body.clone(), caller)?;
        span.inject(request.headers_mut());
        // Boxed, because every future around it contains it once or twice, and is moved.
        let answer = Box::pin(self.connection.request(request, Mask::Short));
        let answer = timeouts.wait(answer).await.flatten();
        let answer = answer.inspect_err(|error| span.fail(&error.error_type()));
        let answer = answer.map_err(|error| self.hide_host(error))?;
        let request_id = upstream_request_id(&answer.headers);
        span.record_answer(answer.status, request_id.as_ref().map(RequestId::as_str));
        drop(span);
        if let Some(id) = request_id {
            tracing::Span::current().record("upstream_request_id", id.as_str());
        }
        if answer.status == StatusCode::OK {
            return Ok(answer);
        }
        let rejection = self.read_rejection(answer, timeouts).await;
        log_rejection(&rejection, &body.to_bytes(), caller, self.settings.key.as_ref());
        Err(rejection)
    }

    /// Adds the setting of the API to the error of a server that does not have its path. The log
    /// contains the URL, which callers may not see.
    fn explain_missing_path(&self, mut error: UpstreamError, path: &str) -> UpstreamError {
        let UpstreamError::Rejected(rejection) = &mut error else { return error };
        let full_path = format!("{}{path}", self.settings.url.path().trim_end_matches('/'));
        if missing_path::explain(rejection, self.settings.api, &full_path) {
            tracing::warn!(
                url = format!("{}{path}", self.base),
                api = %self.settings.api,
                "the upstream does not have this URL; check --upstream and --upstream-api"
            );
        }
        error
    }

    /// Removes host names from the error, because callers may see it. The log contains them.
    pub(super) fn hide_host(&self, error: UpstreamError) -> UpstreamError {
        let UpstreamError::Unreachable(reason) = error else { return error };
        let host = self.settings.url.host().unwrap_or_default();
        let is_named = !host.is_empty() && reason.contains(host);
        if !is_named && !reason.contains("certificate") {
            return UpstreamError::Unreachable(reason);
        }
        tracing::warn!(
            upstream = self.label(),
            reason,
            "could not connect to the upstream; the caller's error names no host"
        );
        let reason = match reason.contains("certificate") {
            true => "its certificate is not valid".to_owned(),
            false => reason.replace(host, "its host"),
        };
        UpstreamError::Unreachable(reason)
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: Chunks,
        caller: &Caller,
    ) -> Result<Request<RequestBody>, UpstreamError> {
        let url = Uri::try_from(format!("{}{path}", self.base)).map_err(invalid_request)?;
        let mut request = Request::new(request_body(body));
        *request.method_mut() = method;
        *request.uri_mut() = url;
        let headers = request.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        let key = self.settings.key.as_ref().or(caller.token.as_ref());
        api::add_credentials(headers, self.settings.api, key).map_err(invalid_request)?;
        for (name, value) in &caller.headers {
            if api::forwards_header(self.settings.api, name) {
                headers.append(name.clone(), value.clone());
            }
        }
        Ok(request)
    }

    /// Converts an answer with a status other than 200. Redirects are not followed, because a
    /// redirect would send keys to another server. If the body of an error cannot be read, the
    /// error still has its status.
    async fn read_rejection(&self, mut answer: HttpAnswer, timeouts: Timeouts) -> UpstreamError {
        let status = answer.status;
        if !status.is_client_error() && !status.is_server_error() {
            return UpstreamError::UnexpectedAnswer(format!("status {status}"));
        }
        let body = answer.body.read_whole(MAX_ERROR, timeouts).await.unwrap_or_default();
        let body = api::error_body(status, body);
        let headers = ERROR_HEADERS.iter().filter_map(|name| {
            let name = HeaderName::from_static(name);
            Some((name.clone(), answer.headers.get(name)?.clone()))
        });
        let mut headers: HeaderMap = headers.collect();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        UpstreamError::Rejected(Box::new(UpstreamRejection { status, headers, body }))
    }
}

/// The error for a request that cannot be expressed in HTTP.
pub(super) fn invalid_request(error: impl Display) -> UpstreamError {
    UpstreamError::Unreachable(error.to_string())
}

/// A body whose bytes are all available.
pub(crate) fn request_body(body: impl Into<Chunks>) -> RequestBody {
    body.into().map_err(|never| match never {}).boxed_unsync()
}

/// Detects the kind of an answer's body from its content type or, without one, from its first
/// bytes.
async fn detect_kind(
    answer: &mut HttpAnswer,
    timeouts: &mut Timeouts,
) -> Result<BodyKind, UpstreamError> {
    match media_type(&answer.headers).as_str() {
        "text/event-stream" => Ok(BodyKind::Events),
        "application/json" => Ok(BodyKind::Json),
        "" => answer.body.sniff(timeouts).await,
        other => Err(unexpected_type(other)),
    }
}

/// The id that the server gave the request.
fn upstream_request_id(headers: &HeaderMap) -> Option<RequestId> {
    let mut names = [REQUEST_ID, HeaderName::from_static("request-id")].into_iter();
    names.find_map(|name| RequestId::from_value(headers.get(name)?))
}

/// Rejects a compressed body: the request does not allow compression.
fn check_uncompressed(answer: &HttpAnswer) -> Result<(), UpstreamError> {
    if answer.is_compressed() {
        let reason = "a compressed body, although none was requested";
        return Err(UpstreamError::UnexpectedAnswer(reason.to_owned()));
    }
    Ok(())
}

fn unexpected_type(media_type: &str) -> UpstreamError {
    UpstreamError::UnexpectedAnswer(format!("content of type '{media_type}'"))
}
