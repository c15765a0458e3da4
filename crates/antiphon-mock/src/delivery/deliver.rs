//! The delivery of one reply.

use std::{io, vec};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;

use super::exchange::{Exchange, Outcome};
use super::reply::{Reply, Tail};

/// A response extension: close the connection in place of a reply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hangup;

/// Observes the delivery of one reply.
pub trait Witness: Send + 'static {
    /// The chunk at `index` is about to be sent.
    fn sending(&mut self, index: usize);

    /// The delivery has ended. Called exactly once, for every outcome.
    fn over(&mut self, outcome: Outcome);
}

/// Ignores the delivery.
impl Witness for () {
    fn sending(&mut self, _: usize) {}

    fn over(&mut self, _: Outcome) {}
}

/// Builds the response and delivers it as far as `exchange` permits. If the body is dropped before
/// its end, the peer has disconnected.
pub async fn deliver(reply: Reply, exchange: Exchange, mut witness: impl Witness) -> Response {
    if reply.tail == Tail::Hangup {
        exchange.settle(Outcome::Aborted);
        witness.over(Outcome::Aborted);
        let mut response = Response::default();
        response.extensions_mut().insert(Hangup);
        return response;
    }
    let (status, headers, head_withheld) = (reply.status, reply.headers, reply.head_withheld);
    let chunks = reply.chunks.into_iter();
    let mut delivery =
        Delivery { chunks, tail: reply.tail, exchange, witness, sent: 0, is_over: false };
    delivery.settle_if_delivered();
    if head_withheld {
        delivery.exchange.wait_for_head().await;
    }
    let mut response = Response::new(Body::from_stream(stream::unfold(delivery, Delivery::next)));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

struct Delivery<W: Witness> {
    chunks: vec::IntoIter<Bytes>,
    tail: Tail,
    exchange: Exchange,
    witness: W,
    sent: usize,
    is_over: bool,
}

impl<W: Witness> Delivery<W> {
    /// The next chunk, or the error that breaks the connection after the last one.
    ///
    /// It yields first, because the server flushes its buffer while the body is pending: each chunk
    /// is sent separately, and a break does not discard the chunk before it.
    async fn next(mut self) -> Option<(io::Result<Bytes>, Self)> {
        tokio::task::yield_now().await;
        if self.chunks.len() > 0 && !self.exchange.wait_for_permit().await {
            (self.chunks, self.tail) = (vec::IntoIter::default(), Tail::Abort);
        }
        match (self.chunks.next(), self.tail) {
            (Some(chunk), _) => {
                self.witness.sending(self.sent);
                self.sent += 1;
                self.exchange.count_sent();
                self.settle_if_delivered();
                Some((Ok(chunk), self))
            }
            (None, Tail::Abort) => {
                self.settle(Outcome::Aborted);
                Some((Err(io::ErrorKind::ConnectionReset.into()), self))
            }
            (None, Tail::End | Tail::Hangup) => None,
        }
    }

    fn settle_if_delivered(&mut self) {
        if self.chunks.len() == 0 && self.tail == Tail::End {
            self.settle(Outcome::Delivered);
        }
    }

    /// Informs the witness first, so that its effects are visible to a test that waits for the
    /// outcome.
    fn settle(&mut self, outcome: Outcome) {
        if !std::mem::replace(&mut self.is_over, true) {
            self.witness.over(outcome);
        }
        self.exchange.settle(outcome);
    }
}

impl<W: Witness> Drop for Delivery<W> {
    fn drop(&mut self) {
        self.settle(Outcome::Disconnected);
    }
}
