//! An upstream over HTTP.

use std::sync::Arc;
use std::time::Duration;

use antiphon::dialect::Dialect;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::api;
use super::body::{ByteStream, Received, Reply};
use super::connection::{Answer, Connection};
use super::error::UpstreamError;
use super::findings::Findings;
use super::models::{Model, models_of};
use super::own_key::Mask;
use super::patience::Patience;
use super::refusal_log::log_refusal;
use super::sniffed::Sniffed;
use crate::bound::from_now;
use crate::caller::Caller;
use crate::chunks::Chunks;
use crate::refused::Refused;
use crate::request_id::{REQUEST_ID, RequestId};
use crate::settings::{Capabilities, ModelPattern, Retries, State, UpstreamSettings};

/// The bound on an error's body.
const MAX_ERROR: usize = 1 << 20;

/// Headers of an error that callers act on.
const ERROR_HEADERS: [&str; 4] =
    ["retry-after", "retry-after-ms", "x-should-retry", "x-request-id"];

/// A request's body on its way.
pub(crate) type RequestBody = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// A server at one base URL.
pub(crate) struct HttpUpstream {
    pub(super) settings: UpstreamSettings,
    pub(super) base: String,
    name: String,
    /// How many answers may still be opened; `None`: any number.
    open: Option<Arc<Semaphore>>,
    findings: Findings,
    pub(super) connection: Connection,
}

impl HttpUpstream {
    pub(super) fn new(settings: &UpstreamSettings) -> Self {
        let base = settings.url.to_string().trim_end_matches('/').to_owned();
        let name = settings.url.authority().map_or_else(|| base.clone(), ToString::to_string);
        Self {
            settings: settings.clone(),
            base,
            name,
            open: settings.max_open.map(|count| Arc::new(Semaphore::new(count))),
            findings: Findings::default(),
            connection: Connection::new(settings.connect_timeout, settings.key.as_ref()),
        }
    }

    /// The server's name, by which the origin of items is known.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The name that operators know it by.
    pub(crate) fn label(&self) -> &str {
        self.public_name().unwrap_or(&self.name)
    }

    /// The name that the operator gave it, which callers may be told. They are never told of its host.
    pub(crate) fn public_name(&self) -> Option<&str> {
        self.settings.name.as_deref()
    }

    /// Its base URL, without a slash at the end: what its state is known to be kept by.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The same as the settings have it.
    pub(crate) fn url(&self) -> &Uri {
        &self.settings.url
    }

    /// The API that it speaks.
    pub(super) fn api(&self) -> Dialect {
        self.settings.api
    }

    /// Whether it answers for a model of this name.
    pub(super) fn takes(&self, model: &str) -> bool {
        self.settings.models.iter().any(|pattern| pattern.takes(model))
    }

    /// Whether it answers for models of every name.
    pub(super) fn takes_all(&self) -> bool {
        self.settings.models.contains(&ModelPattern::new("*"))
    }

    /// Whether it is shown a key of the operator's in place of the callers'.
    pub(crate) fn has_own_key(&self) -> bool {
        self.settings.key.is_some()
    }

    /// Who keeps what is begun with its models.
    pub(crate) fn state(&self) -> State {
        self.settings.state
    }

    /// What the operator says that it can do where it keeps the state.
    pub(crate) fn told_capabilities(&self) -> Option<Capabilities> {
        self.settings.capabilities
    }

    /// What was found out of the same.
    pub(crate) fn findings(&self) -> &Findings {
        &self.findings
    }

    /// How many tokens its models take, where that is known.
    pub(super) fn context_window(&self) -> Option<u64> {
        self.settings.context_window.map(u64::from)
    }

    /// Whether it is shown the callers' own tokens.
    pub(super) fn takes_tokens(&self) -> bool {
        self.settings.key.is_none()
    }

    /// The bound, in bytes, on one event of an answer.
    pub(crate) fn max_answer(&self) -> usize {
        self.settings.max_answer
    }

    /// How often it is asked again, and how long an answer may take in all.
    pub(crate) fn patience(&self) -> (Retries, Duration) {
        (self.settings.retries.clone(), self.settings.total_timeout)
    }

    /// Asks for an answer, which has to be whole at `end`.
    pub(super) async fn respond(
        &self,
        body: Chunks,
        caller: &Caller,
        end: Instant,
    ) -> Result<Reply, UpstreamError> {
        let permit = self.permit()?;
        let mut patience = Patience::new(&self.settings, end);
        let path = api::path(self.settings.api);
        let mut answer = self.ask(Method::POST, path, body, caller, patience).await?;
        check_plain(&answer)?;
        match kind_of(&mut answer, &mut patience).await? {
            Kind::Events => Ok(Reply::Events(ByteStream::Received(Box::new(Received {
                body: answer.body,
                patience,
                _permit: permit,
            })))),
            Kind::Json => {
                let limit = self.settings.max_answer;
                answer.body.read_whole(limit, patience).await.map(Reply::Whole)
            }
        }
    }

    /// Asks at `path`, behind the base URL, for an answer of one JSON object.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        caller: &Caller,
        end: Instant,
    ) -> Result<Bytes, UpstreamError> {
        let _permit = self.permit()?;
        let patience = Patience::new(&self.settings, end);
        let mut answer = self.ask(method, path, body.into(), caller, patience).await?;
        check_plain(&answer)?;
        match media_type(&answer.headers).as_str() {
            "application/json" | "" => {
                answer.body.read_whole(self.settings.max_answer, patience).await
            }
            other => Err(content_of_type(other)),
        }
    }

    /// `GET /models`
    pub(super) async fn models(&self, caller: &Caller) -> Result<Vec<Model>, UpstreamError> {
        let patience = Patience::new(&self.settings, from_now(self.settings.total_timeout));
        let mut answer =
            self.ask(Method::GET, "/models", Chunks::default(), caller, patience).await?;
        let body = answer.body.read_whole(MAX_ERROR, patience).await?;
        Ok(models_of(&body, self.public_name().unwrap_or("upstream")))
    }

    /// The right to open one more answer, for as long as it is held.
    pub(super) fn permit(&self) -> Result<Option<OwnedSemaphorePermit>, UpstreamError> {
        let Some(open) = &self.open else { return Ok(None) };
        let permit = open.clone().try_acquire_owned();
        permit.map(Some).map_err(|_| UpstreamError::Busy)
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Chunks,
        caller: &Caller,
        patience: Patience,
    ) -> Result<Answer, UpstreamError> {
        let request = self.request(method, path, body.clone(), caller)?;
        let answer = patience.wait(self.connection.request(request, Mask::Short)).await?;
        let answer = answer.map_err(|error| self.without_host(error))?;
        record_request_id(&answer.headers);
        if answer.status == StatusCode::OK {
            return Ok(answer);
        }
        let refusal = self.refusal(answer, patience).await;
        log_refusal(&refusal, &body.to_bytes(), caller, self.settings.key.as_ref());
        Err(refusal)
    }

    /// The same error without the names of hosts, as callers may be told it. The log has them.
    pub(super) fn without_host(&self, error: UpstreamError) -> UpstreamError {
        let UpstreamError::Unreachable(reason) = error else { return error };
        let host = self.settings.url.host().unwrap_or_default();
        let is_named = !host.is_empty() && reason.contains(host);
        if !is_named && !reason.contains("certificate") {
            return UpstreamError::Unreachable(reason);
        }
        tracing::warn!(upstream = self.label(), reason, "the upstream could not be reached");
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
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT_ENCODING, "identity")
            .header(header::USER_AGENT, concat!("antiphon/", env!("CARGO_PKG_VERSION")));
        request = api::signed(
            request,
            self.settings.api,
            self.settings.key.as_ref().or(caller.token.as_ref()),
        );
        for (name, value) in &caller.headers {
            if api::takes_header(self.settings.api, name) {
                request = request.header(name, value);
            }
        }
        request.body(whole(body)).map_err(|error| UpstreamError::Unreachable(error.to_string()))
    }

    /// An answer that is not 200. A redirect is not followed: it would carry keys elsewhere. An
    /// error's body that does not come does not keep its status from being told.
    async fn refusal(&self, mut answer: Answer, patience: Patience) -> UpstreamError {
        let status = answer.status;
        if !status.is_client_error() && !status.is_server_error() {
            return UpstreamError::Garbled(format!("status {status}"));
        }
        let body = answer.body.read_whole(MAX_ERROR, patience).await.unwrap_or_default();
        let body = api::error_body(status, body);
        let headers = ERROR_HEADERS.iter().filter_map(|name| {
            let name = HeaderName::from_static(name);
            Some((name.clone(), answer.headers.get(name)?.clone()))
        });
        let mut headers: HeaderMap = headers.collect();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        UpstreamError::Refused(Box::new(Refused { status, headers, body }))
    }
}

/// A body that is there.
pub(crate) fn whole(body: impl Into<Chunks>) -> RequestBody {
    body.into().map_err(|never| match never {}).boxed_unsync()
}

/// The kinds of body that an answer may have.
enum Kind {
    Events,
    Json,
}

/// The kind of an answer's body, by its content type or, without one, by its first bytes.
async fn kind_of(answer: &mut Answer, patience: &mut Patience) -> Result<Kind, UpstreamError> {
    match media_type(&answer.headers).as_str() {
        "text/event-stream" => Ok(Kind::Events),
        "application/json" => Ok(Kind::Json),
        "" => match answer.body.sniff(patience).await? {
            Sniffed::Events => Ok(Kind::Events),
            Sniffed::Json => Ok(Kind::Json),
            Sniffed::Unknown => Err(content_of_type("")),
        },
        other => Err(content_of_type(other)),
    }
}

/// Has the log name the id that the server gave to the request.
fn record_request_id(headers: &HeaderMap) {
    let mut names = [REQUEST_ID, HeaderName::from_static("request-id")].into_iter();
    if let Some(id) = names.find_map(|name| RequestId::from_value(headers.get(name)?)) {
        tracing::Span::current().record("upstream_request_id", id.as_str());
    }
}

/// Bodies are asked for as they are.
fn check_plain(answer: &Answer) -> Result<(), UpstreamError> {
    if answer.is_compressed() {
        let reason = "a compressed body, which was not asked for";
        return Err(UpstreamError::Garbled(reason.to_owned()));
    }
    Ok(())
}

fn content_of_type(media_type: &str) -> UpstreamError {
    UpstreamError::Garbled(format!("content of type '{media_type}'"))
}

/// In lower case: media types are case-insensitive.
fn media_type(headers: &HeaderMap) -> String {
    let content_type = headers.get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
