//! What a test has the upstream reply, chunk by chunk.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde_json::Value;

use super::Exchange;
use crate::{Frame, Refusal};

/// A scripted reply: status, headers, and a body whose every chunk boundary is given.
///
/// The peer reads each chunk as one HTTP chunk, in one read where it reads promptly.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) chunks: Vec<Bytes>,
    pub(super) tail: Tail,
    pub(super) head_withheld: bool,
    free: Option<usize>,
}

/// What follows the last chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// The body ends as HTTP wants it to.
    End,
    /// The connection breaks in the middle of the body.
    Abort,
    /// The connection is closed in place of an answer.
    Hangup,
}

/// What is replied.
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

    /// Any body in one chunk; none if it is empty.
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

    /// No reply: the connection is closed once the request has come.
    pub fn hangup() -> Self {
        Self { tail: Tail::Hangup, ..Self::new(StatusCode::OK, "text/plain", Bytes::new()) }
    }

    /// Sets a header, in place of any of that name.
    ///
    /// # Panics
    /// When `name` is not in lower case, or either cannot stand in a header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        self
    }
}

/// How it is delivered.
impl Reply {
    /// Sends the body in exactly these chunks. Empty ones are left out: HTTP cannot carry them.
    #[must_use]
    pub fn chunks(mut self, chunks: impl IntoIterator<Item = impl Into<Bytes>>) -> Self {
        let chunks = chunks.into_iter().map(Into::into);
        self.chunks = chunks.filter(|chunk: &Bytes| !chunk.is_empty()).collect();
        self
    }

    /// Sends the same bytes in chunks of `size`, the last one maybe shorter.
    ///
    /// # Panics
    /// When `size` is 0.
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

    /// Replaces `from` by `to` in the body, which stays in chunks of the same content.
    #[must_use]
    pub fn replaced(mut self, from: &str, to: &str) -> Self {
        for chunk in &mut self.chunks {
            *chunk = String::from_utf8_lossy(chunk).replace(from, to).into();
        }
        self
    }

    /// Withholds every chunk until the [`Exchange`](super::Exchange) releases it.
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

    /// Withholds status and headers too, until the first release.
    #[must_use]
    pub fn withhold_head(mut self) -> Self {
        self.head_withheld = true;
        self
    }

    /// Breaks the connection right after the first `count` chunks: the peer sees a transfer that
    /// was cut off.
    #[must_use]
    pub fn abort_after(mut self, count: usize) -> Self {
        self.tail = Tail::Abort;
        self.end_after(count)
    }

    /// Ends the body cleanly after the first `count` chunks, as if that were all of it.
    #[must_use]
    pub fn end_after(mut self, count: usize) -> Self {
        self.chunks.truncate(count);
        self
    }

    /// Its status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The handle on its delivery.
    pub fn exchange(&self) -> Exchange {
        Exchange::new(self.free.unwrap_or(usize::MAX))
    }
}
