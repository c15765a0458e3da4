//! An upstream's answer as it arrives.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::OwnedSemaphorePermit;

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
    Received {
        /// The answer's body.
        body: Incoming,
        /// How long it is waited for.
        patience: Patience,
        /// The right to have it open.
        _permit: Option<OwnedSemaphorePermit>,
    },
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
            Self::Received { body, patience, .. } => next_piece(body, patience).await,
        }
    }
}

async fn next_piece(
    body: &mut Incoming,
    patience: &mut Patience,
) -> Option<Result<Bytes, UpstreamError>> {
    loop {
        let frame = match patience.wait(body.frame()).await {
            Err(error) => return Some(Err(error)),
            Ok(None) => return None,
            Ok(Some(Err(_))) => return Some(Err(UpstreamError::BrokeOff)),
            Ok(Some(Ok(frame))) => frame,
        };
        if let Ok(piece) = frame.into_data() {
            patience.heard();
            return Some(Ok(piece));
        }
    }
}

/// Reads a whole body of at most `limit` bytes.
pub(super) async fn read_whole(
    body: &mut Incoming,
    limit: usize,
    mut patience: Patience,
) -> Result<Bytes, UpstreamError> {
    let mut whole = Vec::new();
    while let Some(piece) = next_piece(body, &mut patience).await {
        let piece = piece?;
        if whole.len() + piece.len() > limit {
            return Err(UpstreamError::Garbled(format!("a body over {limit} bytes")));
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.into())
}
