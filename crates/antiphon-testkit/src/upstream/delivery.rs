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

/// The response to send. Its body observes itself: dropped before its end, the peer has left.
pub(super) async fn deliver(reply: Reply, exchange: Exchange) -> Response {
    if reply.tail == Tail::Hangup {
        exchange.settle(Outcome::Aborted);
        let mut response = Response::default();
        response.extensions_mut().insert(Hangup);
        return response;
    }
    let (status, headers, head_withheld) = (reply.status, reply.headers, reply.head_withheld);
    let delivery = Delivery { chunks: reply.chunks.into_iter(), tail: reply.tail, exchange };
    delivery.settle_if_delivered();
    if head_withheld {
        delivery.exchange.head_released().await;
    }
    let mut response = Response::new(Body::from_stream(stream::unfold(delivery, Delivery::next)));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

struct Delivery {
    chunks: vec::IntoIter<Bytes>,
    tail: Tail,
    exchange: Exchange,
}

impl Delivery {
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
                self.exchange.count_sent();
                self.settle_if_delivered();
                Some((Ok(chunk), self))
            }
            (None, Tail::Abort) => {
                self.exchange.settle(Outcome::Aborted);
                Some((Err(io::ErrorKind::ConnectionReset.into()), self))
            }
            (None, Tail::End | Tail::Hangup) => None,
        }
    }

    fn settle_if_delivered(&self) {
        if self.chunks.len() == 0 && self.tail == Tail::End {
            self.exchange.settle(Outcome::Delivered);
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        self.exchange.settle(Outcome::Disconnected);
    }
}
