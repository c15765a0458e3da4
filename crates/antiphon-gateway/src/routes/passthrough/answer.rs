//! The answer of an upstream to the caller.

use std::sync::Arc;

use axum::body::Body as AxumBody;
use axum::response::Response;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use http::header;

use super::headers;
use crate::fault_pages;
use crate::gateway::Gateway;
use crate::limits::TurnPermit;
use crate::media_type;
use crate::upstream::{PassthroughAnswer, UpstreamError};

/// A part of an answer, or the failure that ends it.
type Piece = Result<Bytes, UpstreamError>;

/// The maximum size of an error that is searched for a known fault. A longer one passes unread.
const MAX_ERROR: usize = 64 << 10;

/// The answer to the caller, streamed. The error of a known fault has a link to its page; its body
/// stays the same.
pub(in super::super) async fn stream_answer(
    gateway: Arc<Gateway>,
    passed: PassthroughAnswer,
    permit: Option<TurnPermit>,
) -> Response {
    let (status, mut headers) = (passed.status, headers::to_caller(&passed.headers));
    let mut open = OpenAnswer { gateway, passed, _permit: permit };
    let is_error = status.is_client_error() || status.is_server_error();
    let body = if is_error && media_type::is_json(&headers) {
        let Start { pieces: start, rest, body } = open.read_start().await;
        if let Some(link) = body.and_then(|body| fault_pages::link_of_body(&body)) {
            headers.append(header::LINK, link);
        }
        AxumBody::from_stream(stream::iter(start).chain(pieces(rest)))
    } else {
        open.passed.log_rejection(Bytes::new());
        AxumBody::from_stream(pieces(Some(open)))
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// The start of an error.
struct Start {
    pieces: Vec<Piece>,
    /// The rest, if the error is longer than [`MAX_ERROR`].
    rest: Option<OpenAnswer>,
    /// The whole body, if it was read to its end.
    body: Option<Bytes>,
}

/// The bytes of all pieces, if none of them is a failure.
fn concat(pieces: &[Piece]) -> Option<Bytes> {
    let read: Result<Vec<&[u8]>, _> = pieces.iter().map(|it| it.as_deref()).collect();
    read.ok().map(|read| read.concat().into())
}

fn pieces(open: Option<OpenAnswer>) -> impl Stream<Item = Piece> {
    stream::unfold(open, async |open| {
        let mut open = open?;
        let piece = open.next().await?;
        let open = piece.is_ok().then_some(open);
        Some((piece, open))
    })
}

/// An answer in progress. It counts as an open turn until its end if it has a permit.
struct OpenAnswer {
    gateway: Arc<Gateway>,
    passed: PassthroughAnswer,
    _permit: Option<TurnPermit>,
}

impl Drop for OpenAnswer {
    /// Reports the repairs of the answer.
    fn drop(&mut self) {
        let repaired_calls = self.passed.repaired_calls();
        if repaired_calls > 0 {
            self.gateway.metrics.turns.count_repaired_calls(repaired_calls);
            tracing::info!(repaired_calls, "repaired calls that the upstream announced twice");
        }
    }
}

impl OpenAnswer {
    /// Reads to the end, or until more than [`MAX_ERROR`] bytes were read: then the rest is open.
    /// Logs the error.
    async fn read_start(mut self) -> Start {
        let (mut read, mut length, mut has_ended) = (Vec::new(), 0, false);
        while length <= MAX_ERROR && !has_ended {
            let Some(piece) = self.next().await else {
                has_ended = true;
                break;
            };
            has_ended = piece.is_err();
            length += piece.as_ref().map_or(0, Bytes::len);
            read.push(piece);
        }
        let body = if has_ended { concat(&read) } else { None };
        self.passed.log_rejection(body.clone().unwrap_or_default());
        Start { pieces: read, rest: (!has_ended).then_some(self), body }
    }

    /// The next bytes. Fails when the grace period of a stop ends.
    async fn next(&mut self) -> Option<Piece> {
        tokio::select! {
            piece = self.passed.next() => piece,
            () = self.gateway.closing.cancelled() => Some(Err(UpstreamError::BrokeOff)),
        }
    }
}
