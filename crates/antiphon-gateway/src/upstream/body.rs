//! An upstream's answer as it arrives.

use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;

use super::connection::Body;
use super::error::UpstreamError;
use super::patience::Patience;

/// How an upstream answers.
pub(crate) enum Reply {
    /// With a stream of events.
    Events(ByteStream),
    /// With the whole response object.
    Whole(Bytes),
}

/// Bytes as they arrive.
pub(crate) enum ByteStream {
    /// Made here.
    Made(Box<dyn Iterator<Item = Bytes> + Send>),
    /// From a connection.
    Received(Box<Received>),
}

/// An answer's body, from a connection.
pub(crate) struct Received {
    pub(super) body: Body,
    /// How long it is waited for.
    pub(super) patience: Patience,
    /// The right to have it open.
    pub(super) _permit: Option<OwnedSemaphorePermit>,
}

impl ByteStream {
    /// The next bytes; `None` at the end. Dropping the stream ends the upstream's work.
    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, UpstreamError>> {
        match self {
            Self::Made(events) => {
                // The pieces are all there at once: let the reader and other turns have their say.
                tokio::task::yield_now().await;
                events.next().map(Ok)
            }
            Self::Received(received) => received.next().await,
        }
    }
}

impl Received {
    /// The next bytes; `None` at the end.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, UpstreamError>> {
        self.body.next(&mut self.patience).await
    }
}
