//! Requests that pass through to an upstream unchanged.

use std::future::Future;
use std::pin::pin;

use antiphon::dialect::{ClientApi, PassingAnswer};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};

use super::api;
use super::body::ReceivedBody;
use super::connection::HttpAnswer;
use super::error::UpstreamError;
use super::http::{HttpUpstream, RequestBody, invalid_request};
use super::own_key::Mask;
use super::rejection_log::PassedRejection;
use super::timeouts::Timeouts;
use crate::entropy::from_now;
use crate::error::UpstreamRejection;
use crate::id_mapping::{AnswerTranslation, IdMapping};
use crate::media_type;
use crate::span::{ErrorType as _, TraceSpan};
use crate::trace::{AttemptSpan, SentBy};

/// A request for a part of the API that the gateway does not implement.
pub(crate) struct PassthroughRequest {
    /// Its method.
    pub(crate) method: Method,
    /// Its path and query, relative to the base URL.
    pub(crate) path: String,
    /// Its headers, without hop-by-hop headers.
    pub(crate) headers: HeaderMap,
    /// The span of the caller's request.
    pub(crate) trace: TraceSpan,
    /// Its body.
    pub(crate) body: RequestBody,
    /// The decoded body, if it was read. No log line repeats its words.
    pub(crate) text: Option<Bytes>,
}

/// The answer of the upstream to a request that passed through.
pub(crate) struct PassthroughAnswer {
    pub(crate) status: StatusCode,
    /// The headers of the answer.
    pub(crate) headers: HeaderMap,
    body: ReceivedBody,
    change: Option<Change>,
    /// The rejection, until it is logged.
    rejection: Option<Box<PassedRejection>>,
}

/// A change of the body as it passes.
enum Change {
    /// To the ids that callers know.
    Ids(AnswerTranslation),
    /// Without calls that are announced twice.
    Calls(Box<PassingAnswer>),
}

impl HttpUpstream {
    /// Sends a request without retries. The time limit of the answer starts when the request is
    /// `sent`.
    ///
    /// The answer passes through with any status, including redirects and errors. If the upstream
    /// receives the operator's key, the key is removed from the answer. To make the search
    /// possible, such a request asks for an answer without compression. If the upstream compresses
    /// a text nevertheless, the body of an error is replaced by a sentence, and any other text is
    /// rejected.
    pub(crate) async fn pass_through(
        &self,
        request: PassthroughRequest,
        sent: impl Future<Output = ()>,
    ) -> Result<PassthroughAnswer, UpstreamError> {
        let permit = self.permit()?;
        let end = from_now(self.settings.total_timeout);
        let PassthroughRequest { method, path, headers, trace, body, text } = request;
        let (cause, by) = (SentBy::first(&trace), (self.label(), self.url(), &*path));
        let span = AttemptSpan::start(cause, &method, by);
        let mut request = self.outgoing_request((method, &path), &headers, body)?;
        span.inject(request.headers_mut());
        let mut answer = pin!(self.connection.request(request, Mask::SameLength));
        let early = tokio::select! {
            biased;
            answer = answer.as_mut() => Some(answer),
            () = sent => None,
        };
        let timeouts = Timeouts::new(&self.settings, end);
        let answer = match early {
            Some(answer) => answer,
            None => timeouts.wait(answer).await.flatten(),
        };
        let answer = answer.inspect_err(|error| span.fail(&error.error_type()));
        let mut answer = answer.map_err(|error| self.hide_host(error))?;
        span.record_answer(answer.status, None);
        drop(span);
        self.hide_base(&mut answer.headers);
        let answer = self.searchable(answer)?;
        let rejection = is_error(answer.status).then(|| {
            let (key, sent) = (self.settings.key.as_ref(), (&*path, &headers, text.as_deref()));
            Box::new(PassedRejection::new(answer.status, sent, key, self.label()))
        });
        let HttpAnswer { status, headers, body } = answer;
        let body = ReceivedBody { body, timeouts, _permit: permit };
        Ok(PassthroughAnswer { status, headers, body, change: None, rejection })
    }

    /// Logs the reason for which a request that passed has no answer.
    pub(crate) fn log_unanswered(&self, error: &UpstreamError) {
        tracing::warn!(upstream = self.label(), %error, "the upstream did not answer a request");
    }

    fn outgoing_request(
        &self,
        (method, path): (Method, &str),
        headers: &HeaderMap,
        body: RequestBody,
    ) -> Result<Request<RequestBody>, UpstreamError> {
        let mut headers =
            filtered(headers, |name, _| api::forwards_header(self.settings.api, name));
        if let Some(key) = &self.settings.key {
            let (name, value) = api::credential(self.settings.api, key);
            let value = HeaderValue::try_from(value.as_str()).map_err(invalid_request)?;
            headers.insert(name, value);
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        let mut outgoing = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .body(body)
            .map_err(invalid_request)?;
        *outgoing.headers_mut() = headers;
        Ok(outgoing)
    }

    /// Rewrites a redirect within the upstream's API to the gateway, because callers must not see
    /// the upstream's URL.
    fn hide_base(&self, headers: &mut HeaderMap) {
        let location = headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
        let path = location.and_then(|location| location.strip_prefix(self.base.as_str()));
        let path = path.filter(|path| path.is_empty() || path.starts_with(['/', '?']));
        let through = path.map(|path| HeaderValue::try_from(format!("/v1{path}")));
        if let Some(Ok(through)) = through {
            headers.insert(header::LOCATION, through);
        }
    }

    /// Rejects a compressed text that may contain the operator's key.
    fn searchable(&self, answer: HttpAnswer) -> Result<HttpAnswer, UpstreamError> {
        if self.settings.key.is_none() || !answer.is_compressed() {
            return Ok(answer);
        }
        match is_error(answer.status) {
            true => Err(rejection_with_status(answer.status)),
            false if is_text(&answer.headers) => {
                let reason = "a compressed body, although none was requested";
                Err(UpstreamError::UnexpectedAnswer(reason.to_owned()))
            }
            false => Ok(answer),
        }
    }
}

impl PassthroughAnswer {
    /// Translates the answer about a conversation that has another id for callers than at the
    /// upstream.
    pub(crate) fn with_mapping(mut self, mapping: Option<IdMapping>) -> Self {
        if mapping.is_some() {
            self.headers.remove(header::CONTENT_LENGTH);
        }
        Self { change: mapping.map(AnswerTranslation::new).map(Change::Ids), ..self }
    }

    /// Removes repeated calls from a successful answer in this API. Holds at most `limit` bytes.
    pub(crate) fn without_repeated_calls(mut self, api: ClientApi, limit: usize) -> Self {
        let is_plain = !self.headers.contains_key(header::CONTENT_ENCODING);
        if !self.status.is_success() || !is_plain {
            return self;
        }
        let answer = if media_type::is_event_stream(&self.headers) {
            PassingAnswer::stream(api, limit)
        } else if media_type::is_json(&self.headers) {
            PassingAnswer::json(api, limit)
        } else {
            return self;
        };
        self.headers.remove(header::CONTENT_LENGTH);
        Self { change: Some(Change::Calls(Box::new(answer))), ..self }
    }

    /// Logs a rejection with its reason, once. `body` is its body, or the start of it.
    pub(crate) fn log_rejection(&mut self, body: Bytes) {
        if let Some(rejection) = self.rejection.take() {
            rejection.log(body);
        }
    }

    /// The number of repeated calls that were removed or got another id.
    pub(crate) fn repaired_calls(&self) -> u64 {
        match &self.change {
            Some(Change::Calls(answer)) => answer.repairs(),
            _ => 0,
        }
    }

    /// Returns the next bytes of the body, or `None` at its end.
    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, UpstreamError>> {
        let Some(change) = &mut self.change else { return self.body.next().await };
        loop {
            let changed = match self.body.next().await {
                Some(Ok(piece)) => change.push(&piece),
                Some(Err(error)) => return Some(Err(error)),
                None => {
                    let rest = change.finish();
                    return (!rest.is_empty()).then_some(Ok(rest));
                }
            };
            if !changed.is_empty() {
                return Some(Ok(changed));
            }
        }
    }

    /// Reads the whole body, at most `limit` bytes.
    pub(crate) async fn whole(self, limit: usize) -> Result<Bytes, UpstreamError> {
        let ReceivedBody { mut body, timeouts, _permit } = self.body;
        let body = body.read_whole(limit, timeouts).await?;
        if let Some(rejection) = self.rejection {
            rejection.log(body.clone());
        }
        Ok(body)
    }
}

impl Change {
    /// Adds a piece, and returns the bytes to send.
    fn push(&mut self, piece: &Bytes) -> Bytes {
        match self {
            Self::Ids(translation) => translation.push(piece),
            Self::Calls(answer) => answer.push(piece),
        }
    }

    /// The remaining bytes at the end of the answer.
    fn finish(&mut self) -> Bytes {
        match self {
            Self::Ids(translation) => translation.finish(),
            Self::Calls(answer) => answer.finish(),
        }
    }
}

/// A rejection with only a status.
fn rejection_with_status(status: StatusCode) -> UpstreamError {
    let body = api::error_body(status, Bytes::new());
    let json = HeaderValue::from_static("application/json");
    let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, json)]);
    UpstreamError::Rejected(Box::new(UpstreamRejection { status, headers, body }))
}

fn is_error(status: StatusCode) -> bool {
    status.is_client_error() || status.is_server_error()
}

/// Whether the content may be an error message: anything but media and archives.
fn is_text(headers: &HeaderMap) -> bool {
    let Some(content_type) = headers.get(header::CONTENT_TYPE) else { return true };
    let content_type = String::from_utf8_lossy(content_type.as_bytes()).to_ascii_lowercase();
    ["json", "text", "xml", "event-stream", "javascript"]
        .iter()
        .any(|text| content_type.contains(text))
}

fn filtered(headers: &HeaderMap, keep: impl Fn(&HeaderName, &HeaderValue) -> bool) -> HeaderMap {
    let kept = headers.iter().filter(|(name, value)| keep(name, value));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}
