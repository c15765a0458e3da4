//! The body of an upstream's answer.

use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;

use super::connection::AnswerBody;
use super::error::UpstreamError;
use super::timeouts::Timeouts;
use crate::settings::EventStream;

/// The answer of an upstream.
pub(crate) enum Reply {
    /// A stream of events.
    Events(ByteStream),
    /// The whole response object.
    Whole(Bytes),
}

/// A stream of bytes.
pub(crate) enum ByteStream {
    /// Produced by the local model.
    Local(EventStream),
    /// Received from a connection.
    Received(Box<ReceivedBody>),
}

/// The body of an answer, received from a connection.
pub(crate) struct ReceivedBody {
    pub(super) body: AnswerBody,
    /// The time limits of the answer.
    pub(super) timeouts: Timeouts,
    /// Counts the answer as open until it is dropped.
    pub(super) _permit: Option<OwnedSemaphorePermit>,
}

impl ByteStream {
    /// Returns the next bytes, or `None` at the end. Dropping the stream cancels the upstream's
    /// work.
    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, UpstreamError>> {
        match self {
            Self::Local(events) => {
                // All pieces are ready at once: yield to the reader and to other turns.
                tokio::task::yield_now().await;
                events.next().map(Ok)
            }
            Self::Received(received) => received.next().await,
        }
    }

    /// Returns bytes that have arrived already; `None` if there are none yet, or no more.
    pub(crate) async fn next_arrived(&mut self) -> Option<Result<Bytes, UpstreamError>> {
        match self {
            Self::Local(events) => events.next().map(Ok),
            Self::Received(received) => received.next_arrived().await,
        }
    }
}

impl ReceivedBody {
    /// Returns the next bytes, or `None` at the end.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, UpstreamError>> {
        self.body.next(&mut self.timeouts).await
    }

    async fn next_arrived(&mut self) -> Option<Result<Bytes, UpstreamError>> {
        self.body.next_arrived(&mut self.timeouts).await
    }
}
