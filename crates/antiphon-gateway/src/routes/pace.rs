//! How slowly a body may come.

use std::time::Duration;

use axum::body::Body as AxumBody;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout};

use super::extract::too_slow;
use crate::error::ApiError;

/// The time that a caller has left for its body. Only time counts in which the gateway waits for it:
/// an upstream that takes a body slowly uses none of it up.
pub(super) struct Pace {
    /// The time for the next [`PROGRESS`] bytes, or for what is left of the body.
    bound: Duration,
    /// Waited for these.
    waited: Duration,
    /// What has come of these.
    come: usize,
    /// Waited for all that has come.
    waited_in_all: Duration,
}

/// How many bytes have to come within the bound.
const PROGRESS: usize = 4 << 10;

/// How many times as long the whole may take.
pub(super) const PIECES: u32 = 10;

impl Pace {
    /// Of a body that has not begun.
    pub(super) fn new(bound: Duration) -> Self {
        Self { bound, waited: Duration::ZERO, come: 0, waited_in_all: Duration::ZERO }
    }

    /// The next bytes of a body; `None` at its end.
    pub(super) async fn next(&mut self, body: &mut AxumBody) -> Result<Option<Bytes>, ApiError> {
        let (begun, left) = (Instant::now(), self.left());
        let Ok(frame) = timeout(left, body.frame()).await else {
            return Err(too_slow(self.bound));
        };
        self.waited += begun.elapsed();
        self.waited_in_all += begun.elapsed();
        match frame {
            None => Ok(None),
            Some(Err(_)) => Err(ApiError::invalid("The request's body broke off before its end.")),
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
