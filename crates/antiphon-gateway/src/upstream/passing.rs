//! Requests that pass to an upstream as they came.

use std::future::Future;
use std::pin::pin;

use bytes::{Bytes, BytesMut};
use http::response::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper_util::client::legacy::Error as ClientError;

use super::api;
use super::body::ByteStream;
use super::error::{Refused, UpstreamError};
use super::http::{HttpUpstream, RequestBody, unreachable_because};
use super::own_key::Redactor;
use super::patience::Patience;
use crate::bound::from_now;
use crate::settings::Secret;

/// A request of a part of the API that the gateway does not have.
pub(crate) struct Foreign {
    /// Its method.
    pub(crate) method: Method,
    /// Its path and query, to stand behind the base URL.
    pub(crate) path: String,
    /// Its headers, without those that concern one connection only.
    pub(crate) headers: HeaderMap,
    /// Its body.
    pub(crate) body: RequestBody,
}

/// An answer as the upstream gives it.
pub(crate) struct Passed {
    /// Status and headers, as they came.
    pub(crate) head: Parts,
    body: ByteStream,
    redactor: Option<Redactor>,
}

impl HttpUpstream {
    /// Makes a request, once. The answer has time from the moment when the request is `sent`.
    ///
    /// What the upstream answers is passed on whatever it is, redirects and errors too; but where it is
    /// shown the operator's key, that key is taken out of the answer. So that it can be found, such an
    /// upstream is asked not to compress, and the body of an error that it compresses all the same is
    /// replaced by a sentence.
    pub(crate) async fn pass(
        &self,
        request: Foreign,
        sent: impl Future<Output = ()>,
    ) -> Result<Passed, UpstreamError> {
        let permit = self.permit()?;
        let end = from_now(self.settings.total_timeout);
        let mut answer = pin!(self.client.request(self.passing(request)?));
        let early = tokio::select! {
            biased;
            answer = answer.as_mut() => Some(answer),
            () = sent => None,
        };
        let patience = Patience::new(&self.settings, end);
        let answer = match early {
            Some(answer) => answer,
            None => patience.wait(answer).await?,
        };
        let (head, body) = self.shown(answer)?.into_parts();
        let body = ByteStream::Received { body, patience, _permit: permit };
        Ok(Passed { head, body, redactor: self.settings.key.as_ref().map(Redactor::new) })
    }

    fn passing(&self, request: Foreign) -> Result<Request<RequestBody>, UpstreamError> {
        let Foreign { method, path, headers, body } = request;
        let mut headers = filtered(&headers, |name, _| api::takes_header(self.settings.api, name));
        if let Some(key) = &self.settings.key {
            let (name, value) = api::credential(self.settings.api, key);
            let value = HeaderValue::try_from(value).map_err(cannot_be_made)?;
            headers.insert(name, value);
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        let mut passing = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .body(body)
            .map_err(cannot_be_made)?;
        *passing.headers_mut() = headers;
        Ok(passing)
    }

    /// The answer as the caller may see it.
    fn shown(
        &self,
        answer: Result<Response<Incoming>, ClientError>,
    ) -> Result<Response<Incoming>, UpstreamError> {
        let mut answer = answer.map_err(|error| unreachable_because(&error))?;
        let Some(key) = &self.settings.key else { return Ok(answer) };
        if is_error(answer.status()) && is_compressed(answer.headers()) {
            return Err(refusal_of(answer.status()));
        }
        *answer.headers_mut() = filtered(answer.headers(), |_, value| !holds(value, key));
        Ok(answer)
    }
}

impl Passed {
    /// The next bytes of the body; `None` at its end.
    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, UpstreamError>> {
        let piece = self.body.next().await;
        let Some(redactor) = &mut self.redactor else { return piece };
        match piece {
            Some(Ok(piece)) => Some(Ok(redactor.piece(&piece))),
            Some(Err(error)) => Some(Err(error)),
            None => redactor.rest().map(Ok),
        }
    }

    /// All of the body, of at most `limit` bytes.
    pub(crate) async fn whole(&mut self, limit: usize) -> Result<Bytes, UpstreamError> {
        let mut whole = BytesMut::new();
        while let Some(piece) = self.next().await {
            let piece = piece?;
            if whole.len() + piece.len() > limit {
                return Err(UpstreamError::Garbled(format!("a body over {limit} bytes")));
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole.freeze())
    }
}

/// An error of which only the status can be told.
fn refusal_of(status: StatusCode) -> UpstreamError {
    let body = api::error_body(status, Bytes::new());
    let json = HeaderValue::from_static("application/json");
    let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, json)]);
    UpstreamError::Refused(Box::new(Refused { status, headers, body }))
}

fn is_error(status: StatusCode) -> bool {
    status.is_client_error() || status.is_server_error()
}

fn is_compressed(headers: &HeaderMap) -> bool {
    let encoding = headers.get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes);
    !matches!(encoding, None | Some(b"" | b"identity"))
}

fn filtered(headers: &HeaderMap, keep: impl Fn(&HeaderName, &HeaderValue) -> bool) -> HeaderMap {
    let kept = headers.iter().filter(|(name, value)| keep(name, value));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn holds(value: &HeaderValue, key: &Secret) -> bool {
    memchr::memmem::find(value.as_bytes(), key.reveal().as_bytes()).is_some()
}

fn cannot_be_made(error: impl std::fmt::Display) -> UpstreamError {
    UpstreamError::Unreachable(error.to_string())
}
