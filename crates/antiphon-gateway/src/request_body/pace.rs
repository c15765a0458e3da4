//! The minimum speed of a request body.

use std::time::Duration;

use axum::body::Body as AxumBody;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout};

use crate::error::ApiError;

/// The remaining time for a caller's body. Only the time in which the gateway waits for the caller
/// counts: a slow upstream uses none of it.
pub(crate) struct Pace {
    /// The time for the next [`PROGRESS`] bytes, or for the rest of the body.
    bound: Duration,
    /// The time spent on these bytes.
    waited: Duration,
    /// The number of these bytes that have arrived.
    come: usize,
    /// The time spent on the whole body.
    waited_in_all: Duration,
}

/// The number of bytes that must arrive within the bound.
const PROGRESS: usize = 4 << 10;

/// The time limit for the whole body, as a multiple of the bound.
pub(crate) const PIECES: u32 = 10;

impl Pace {
    /// The pace of a body before its first byte.
    pub(crate) fn new(bound: Duration) -> Self {
        Self { bound, waited: Duration::ZERO, come: 0, waited_in_all: Duration::ZERO }
    }

    /// Reads the next bytes of a body; `None` at its end.
    pub(crate) async fn next(&mut self, body: &mut AxumBody) -> Result<Option<Bytes>, ApiError> {
        let (begun, left) = (Instant::now(), self.left());
        let Ok(frame) = timeout(left, body.frame()).await else {
            return Err(ApiError::BodyTooSlow { bound: self.bound });
        };
        self.waited += begun.elapsed();
        self.waited_in_all += begun.elapsed();
        match frame {
            None => Ok(None),
            Some(Err(_)) => Err(ApiError::BodyBrokeOff),
            Some(Ok(frame)) => {
                let piece = frame.into_data().unwrap_or_default();
                self.count(piece.len());
                Ok(Some(piece))
            }
        }
    }

    fn left(&self) -> Duration {
        let whole = self.bound.saturating_mul(PIECES).saturating_sub(self.waited_in_all);
        self.bound.saturating_sub(self.waited).min(whole)
    }

    fn count(&mut self, length: usize) {
        self.come += length;
        if self.come >= PROGRESS {
            self.come = 0;
            self.waited = Duration::ZERO;
        }
    }
}
