//! The body of an upstream's answer.

use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::connection::AnswerBody;
use super::error::UpstreamError;
use super::timeouts::Timeouts;
use crate::settings::EventStream;

/// How long the rest of a stream may take after its last event.
const REST: Duration = Duration::from_secs(1);

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
    pub(crate) fn next_arrived(&mut self) -> Option<Result<Bytes, UpstreamError>> {
        match self {
            Self::Local(events) => events.next().map(Ok),
            Self::Received(received) => received.next_arrived(),
        }
    }

    /// Ends the stream after the last event. What follows is dropped as it arrives, so that its
    /// connection serves other requests.
    pub(crate) fn finish(self) {
        if let Self::Received(received) = self {
            let mut rest = Box::pin(received.body.skip_rest());
            if rest.as_mut().now_or_never().is_none() {
                tokio::spawn(timeout(REST, rest));
            }
        }
    }
}

impl ReceivedBody {
    /// Returns the next bytes, or `None` at the end.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, UpstreamError>> {
        self.body.next(&mut self.timeouts).await
    }

    fn next_arrived(&mut self) -> Option<Result<Bytes, UpstreamError>> {
        self.body.next_arrived(&mut self.timeouts)
    }
}
