//! A scripted reply, chunk by chunk.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde_json::Value;

use super::Exchange;
use crate::{Frame, Refusal};

/// A scripted reply: status, headers, and a body with explicit chunk boundaries.
///
/// The peer receives each chunk as one HTTP chunk, and in one read if it reads promptly.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) chunks: Vec<Bytes>,
    pub(super) tail: Tail,
    pub(super) head_withheld: bool,
    free: Option<usize>,
}

/// The end after the last chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// The body ends normally.
    End,
    /// The connection breaks in the middle of the body.
    Abort,
    /// The connection closes without a reply.
    Hangup,
}

/// Content.
impl Reply {
    /// A stream of server-sent events, one chunk per frame.
    pub fn sse(frames: impl IntoIterator<Item = Frame>) -> Self {
        let chunks = frames.into_iter().map(Bytes::from).collect();
        Self {
            chunks,
            ..Self::new(StatusCode::OK, "text/event-stream; charset=utf-8", Bytes::new())
        }
    }

    /// A JSON body in one chunk.
    pub fn json(status: StatusCode, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    /// The provider's error body.
    pub fn refusal(refusal: &Refusal) -> Self {
        Self::json(refusal.status, &refusal.body())
    }

    /// A body in one chunk; no chunk if it is empty.
    pub fn new(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let content_type = HeaderValue::from_static(content_type);
        Self {
            status,
            headers: HeaderMap::from_iter([(header::CONTENT_TYPE, content_type)]),
            chunks: Vec::from_iter(Some(body.into()).filter(|body| !body.is_empty())),
            tail: Tail::End,
            head_withheld: false,
            free: None,
        }
    }

    /// No reply: the connection closes after the request has arrived.
    pub fn hangup() -> Self {
        Self { tail: Tail::Hangup, ..Self::new(StatusCode::OK, "text/plain", Bytes::new()) }
    }

    /// Sets a header and replaces any of that name.
    ///
    /// # Panics
    /// If `name` is not lower case, or the name or the value is invalid.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        self
    }
}

/// Delivery.
impl Reply {
    /// Sends the body in exactly these chunks. Empty chunks are left out: HTTP cannot send them.
    #[must_use]
    pub fn chunks(mut self, chunks: impl IntoIterator<Item = impl Into<Bytes>>) -> Self {
        let chunks = chunks.into_iter().map(Into::into);
        self.chunks = chunks.filter(|chunk: &Bytes| !chunk.is_empty()).collect();
        self
    }

    /// Sends the same bytes in chunks of `size`; the last one may be shorter.
    ///
    /// # Panics
    /// If `size` is 0.
    #[must_use]
    pub fn rechunk(self, size: usize) -> Self {
        let bytes = Bytes::from(self.chunks.concat());
        let starts = (0..bytes.len()).step_by(size);
        let chunks: Vec<_> = starts.map(|at| bytes.slice(at..bytes.len().min(at + size))).collect();
        self.chunks(chunks)
    }

    /// Sends no content type.
    #[must_use]
    pub fn without_content_type(mut self) -> Self {
        self.headers.remove(header::CONTENT_TYPE);
        self
    }

    /// Replaces `from` by `to` in each chunk of the body.
    #[must_use]
    pub fn replace(mut self, from: &str, to: &str) -> Self {
        for chunk in &mut self.chunks {
            *chunk = String::from_utf8_lossy(chunk).replace(from, to).into();
        }
        self
    }

    /// Withholds every chunk until the [`Exchange`] releases it.
    #[must_use]
    pub fn gated(self) -> Self {
        self.hang_after(0)
    }

    /// Withholds everything after the first `count` chunks until it is released.
    #[must_use]
    pub fn hang_after(mut self, count: usize) -> Self {
        self.free = Some(count);
        self
    }

    /// Withholds the status and the headers too, until the first release.
    #[must_use]
    pub fn withhold_head(mut self) -> Self {
        self.head_withheld = true;
        self
    }

    /// Breaks the connection after the first `count` chunks: the peer sees a truncated transfer.
    #[must_use]
    pub fn break_after(mut self, count: usize) -> Self {
        self.tail = Tail::Abort;
        self.end_after(count)
    }

    /// Ends the body normally after the first `count` chunks, as if it were complete.
    #[must_use]
    pub fn end_after(mut self, count: usize) -> Self {
        self.chunks.truncate(count);
        self
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The handle for the delivery.
    pub fn exchange(&self) -> Exchange {
        Exchange::new(self.free.unwrap_or(usize::MAX))
    }
}
