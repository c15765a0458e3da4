//! The body of one reply on its way.

use std::{io, vec};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;

use super::exchange::{Exchange, Outcome};
use super::reply::{Reply, Tail};

/// In a response's extensions: the connection is closed in its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hangup;

/// Follows the delivery of one reply, as the server that sends it has to.
pub trait Witness: Send + 'static {
    /// The chunk number `index`, from 0, is about to be handed over.
    fn sending(&mut self, index: usize);

    /// The delivery is over. It is told once, whatever becomes of the connection.
    fn over(&mut self, outcome: Outcome);
}

/// Nobody follows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unseen;

impl Witness for Unseen {
    fn sending(&mut self, _: usize) {}

    fn over(&mut self, _: Outcome) {}
}

/// The response to send, delivered as far as `exchange` lets it go. Its body observes itself: dropped before its end, the peer has left.
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
        delivery.exchange.head_released().await;
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
    /// The next chunk, or the break after the last one.
    ///
    /// It yields first, for the server flushes what it has when the body makes it wait: each chunk
    /// leaves on its own, and a break does not take the chunk before it along.
    async fn next(mut self) -> Option<(io::Result<Bytes>, Self)> {
        tokio::task::yield_now().await;
        if self.chunks.len() > 0 && !self.exchange.permitted().await {
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

    /// The witness is told first: who waits for the outcome finds what follows from it.
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
