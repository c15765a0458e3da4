//! The only way to an upstream: everything that it answers is read here first.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::connector::{self, Connector};
use super::error::UpstreamError;
use super::http::RequestBody;
use super::own_key::{KeyPattern, Mask, Redactor};
use super::patience::Patience;
use super::sniffed::Sniffed;
use crate::settings::Secret;

/// How much of an answer a connection reads at once, which bounds the head of an answer too. A buffer that
/// grew stays as long as its connection does.
const READ_BUFFER: usize = 64 << 10;

/// Connections to one server. No byte of an answer leaves here that repeats the operator's key.
pub(super) struct Connection {
    client: Client<Connector, RequestBody>,
    key: Option<Arc<KeyPattern>>,
}

/// An answer whose body is still to be read.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Body,
}

/// A body as it arrives.
pub(super) struct Body {
    incoming: Incoming,
    redactor: Option<Redactor>,
    /// Bytes that were read to see how the body begins.
    unread: Option<Bytes>,
}

impl Connection {
    /// Connections on which the server is shown `key`.
    pub(super) fn new(connect_timeout: Duration, key: Option<&Secret>) -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_mins(1))
            .http1_max_buf_size(READ_BUFFER)
            .build(connector::new(connect_timeout));
        Self { client, key: key.and_then(KeyPattern::new).map(Arc::new) }
    }

    /// Makes a request. `mask` takes the place of the key in the answer's body; a header that holds
    /// the key is left out.
    pub(super) async fn request(
        &self,
        request: Request<RequestBody>,
        mask: Mask,
    ) -> Result<Answer, UpstreamError> {
        let answer = self.client.request(request).await;
        let (head, incoming) = answer.map_err(|error| failure_of(&error))?.into_parts();
        let redactor = self.key.as_ref().map(|key| Redactor::new(Arc::clone(key), mask));
        let body = Body { incoming, redactor, unread: None };
        Ok(Answer { status: head.status, headers: self.clean(head.headers), body })
    }

    fn clean(&self, headers: HeaderMap) -> HeaderMap {
        let Some(key) = &self.key else { return headers };
        let is_clean = |value: &HeaderValue| !key.is_in(value.as_bytes());
        let clean = headers.iter().filter(|(_, value)| is_clean(value));
        clean.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

impl Answer {
    /// Whether the body is compressed, so that nothing can be found in it.
    pub(super) fn is_compressed(&self) -> bool {
        let encoding = self.headers.get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes);
        !matches!(encoding, None | Some(b"" | b"identity"))
    }
}

impl Body {
    /// The next bytes; `None` at the end.
    pub(super) async fn next(
        &mut self,
        patience: &mut Patience,
    ) -> Option<Result<Bytes, UpstreamError>> {
        if let Some(unread) = self.unread.take() {
            return Some(Ok(unread));
        }
        loop {
            let frame = match patience.wait(self.incoming.frame()).await {
                Err(error) => return Some(Err(error)),
                Ok(None) => return self.redactor.as_mut()?.finish().map(Ok),
                Ok(Some(Err(_))) => return Some(Err(UpstreamError::BrokeOff)),
                Ok(Some(Ok(frame))) => frame,
            };
            let Ok(piece) = frame.into_data() else { continue };
            patience.heard();
            match &mut self.redactor {
                None => return Some(Ok(piece)),
                Some(redactor) => match redactor.push(piece) {
                    held if held.is_empty() => {}
                    piece => return Some(Ok(piece)),
                },
            }
        }
    }

    /// The kind of body that its first bytes show, for an answer without a content type. They are
    /// read again afterwards.
    pub(super) async fn sniff(
        &mut self,
        patience: &mut Patience,
    ) -> Result<Sniffed, UpstreamError> {
        let mut start = BytesMut::new();
        let sniffed = loop {
            let piece = self.next(patience).await.transpose()?;
            let is_all = piece.is_none();
            start.extend_from_slice(&piece.unwrap_or_default());
            if let Some(sniffed) = Sniffed::from_start(&start, is_all) {
                break sniffed;
            }
        };
        self.unread = Some(start.freeze());
        Ok(sniffed)
    }

    /// Reads all of it, at most `limit` bytes.
    pub(super) async fn read_whole(
        &mut self,
        limit: usize,
        mut patience: Patience,
    ) -> Result<Bytes, UpstreamError> {
        let mut whole = BytesMut::new();
        while let Some(piece) = self.next(&mut patience).await {
            let piece = piece?;
            if whole.len() + piece.len() > limit {
                return Err(UpstreamError::Garbled(format!("a body over {limit} bytes")));
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole.freeze())
    }
}

fn failure_of(error: &ClientError) -> UpstreamError {
    let mut reason = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        reason = cause.to_string();
        source = cause.source();
    }
    if error.is_connect() { UpstreamError::Unreachable(reason) } else { UpstreamError::BrokeOff }
}
