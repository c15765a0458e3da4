//! The only connections to upstreams. All bytes that an upstream sends pass through this module
//! before any other code reads them.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use hyper::body::Frame;

use super::body_kind::BodyKind;
use super::connector;
use super::error::UpstreamError;
use super::http::RequestBody;
use super::own_key::{KeyPattern, Mask, Redactor};
use super::pool::{AnswerFrames, Pool};
use super::timeouts::Timeouts;
use crate::settings::UpstreamSettings;

/// The connections to one server. They remove the operator's key from all bytes that they return.
pub(super) struct Connection {
    pool: Pool,
    key: Option<Arc<KeyPattern>>,
}

/// An answer whose body is not read yet.
pub(super) struct HttpAnswer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: AnswerBody,
}

/// The body of an answer, as a stream.
pub(super) struct AnswerBody {
    frames: AnswerFrames,
    redactor: Option<Redactor>,
    /// Bytes that [`AnswerBody::sniff`] has read, and that the next read returns.
    unread: Option<Bytes>,
}

impl Connection {
    /// Creates connections to the server of these settings.
    pub(super) fn new(settings: &UpstreamSettings) -> Self {
        let connector = connector::new(settings.connect_timeout, settings.authorities.as_ref());
        let key = settings.key.as_ref().and_then(KeyPattern::new).map(Arc::new);
        Self { pool: Pool::new(connector), key }
    }

    /// Sends a request. In the answer's body, `mask` replaces the key. A header that contains the
    /// key is removed.
    pub(super) async fn request(
        &self,
        request: Request<RequestBody>,
        mask: Mask,
    ) -> Result<HttpAnswer, UpstreamError> {
        let (head, frames) = self.pool.send(request).await?.into_parts();
        let redactor = self.key.as_ref().map(|key| Redactor::new(Arc::clone(key), mask));
        let body = AnswerBody { frames, redactor, unread: None };
        Ok(HttpAnswer { status: head.status, headers: self.clean(head.headers), body })
    }

    fn clean(&self, headers: HeaderMap) -> HeaderMap {
        let Some(key) = &self.key else { return headers };
        let is_clean = |value: &HeaderValue| !key.is_in(value.as_bytes());
        let clean = headers.iter().filter(|(_, value)| is_clean(value));
        clean.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

impl HttpAnswer {
    /// Whether the body is compressed, so that the key cannot be found in it.
    pub(super) fn is_compressed(&self) -> bool {
        let encoding = self.headers.get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes);
        !matches!(encoding, None | Some(b"" | b"identity"))
    }
}

impl AnswerBody {
    /// Returns the next bytes, or `None` at the end.
    pub(super) async fn next(
        &mut self,
        timeouts: &mut Timeouts,
    ) -> Option<Result<Bytes, UpstreamError>> {
        if let Some(unread) = self.unread.take() {
            return Some(Ok(unread));
        }
        loop {
            match timeouts.wait(self.frames.frame()).await {
                Err(error) => return Some(Err(error)),
                Ok(frame) => match self.clean(frame, timeouts) {
                    Some(Ok(held)) if held.is_empty() => {}
                    Some(Err(error)) => {
                        // The caller's connection first sends what came before the error.
                        tokio::task::yield_now().await;
                        return Some(Err(error));
                    }
                    piece => return piece,
                },
            }
        }
    }

    /// Returns bytes that have arrived already; `None` if there are none yet, or no more.
    pub(super) fn next_arrived(
        &mut self,
        timeouts: &mut Timeouts,
    ) -> Option<Result<Bytes, UpstreamError>> {
        let frame = self.frames.frame().now_or_never()?;
        // The end is returned by the next read.
        frame.is_some().then(|| self.clean(frame, timeouts))?
    }

    /// The bytes of a frame without the operator's key. They are empty if the frame has none, or if
    /// they may be the start of the key. `None` at the end.
    fn clean(
        &mut self,
        frame: Option<Result<Frame<Bytes>, hyper::Error>>,
        timeouts: &mut Timeouts,
    ) -> Option<Result<Bytes, UpstreamError>> {
        let Some(frame) = frame else { return self.redactor.as_mut()?.finish().map(Ok) };
        let Ok(frame) = frame else { return Some(Err(UpstreamError::BrokeOff)) };
        let Ok(piece) = frame.into_data() else { return Some(Ok(Bytes::new())) };
        timeouts.record_progress();
        Some(Ok(match &mut self.redactor {
            None => piece,
            Some(redactor) => redactor.push(piece),
        }))
    }

    /// Reads the rest and drops it, so that the connection serves other requests.
    pub(super) async fn skip_rest(mut self) {
        while let Some(Ok(_)) = self.frames.frame().await {}
    }

    /// Detects the kind of a body without a content type from its first bytes. Later reads return
    /// these bytes again.
    pub(super) async fn sniff(
        &mut self,
        timeouts: &mut Timeouts,
    ) -> Result<BodyKind, UpstreamError> {
        let mut start = BytesMut::new();
        let kind = loop {
            let piece = self.next(timeouts).await.transpose()?;
            let is_all = piece.is_none();
            start.extend_from_slice(&piece.unwrap_or_default());
            if let Some(kind) = BodyKind::from_start(&start, is_all) {
                break kind;
            }
        };
        self.unread = Some(start.freeze());
        Ok(kind)
    }

    /// Reads the whole body, at most `limit` bytes.
    pub(super) async fn read_whole(
        &mut self,
        limit: usize,
        mut timeouts: Timeouts,
    ) -> Result<Bytes, UpstreamError> {
        let mut whole = BytesMut::new();
        while let Some(piece) = self.next(&mut timeouts).await {
            let piece = piece?;
            if whole.len() + piece.len() > limit {
                return Err(UpstreamError::UnexpectedAnswer(format!("a body over {limit} bytes")));
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole.freeze())
    }
}
