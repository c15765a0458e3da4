//! How long an answer is waited for.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::error::UpstreamError;
use crate::bound::from_now;
use crate::settings::UpstreamSettings;

/// The bounds on one answer's time, and how far it has come.
///
/// ```text
///   Silent ── bytes ──> Speaking ── bytes ──> Speaking
/// ```
///
/// Any bytes are a sign of life, comments of an event stream too: servers keep a connection open with
/// them while a model thinks. What only the end bounds is bounded by `end`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    first_byte: Duration,
    idle: Duration,
    total: Duration,
    end: Instant,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Silent { until: Instant },
    Speaking,
}

impl Patience {
    /// With an answer that is asked for now and has to be whole at `end`.
    pub(super) fn new(settings: &UpstreamSettings, end: Instant) -> Self {
        let first_byte = settings.first_byte_timeout;
        Self {
            first_byte,
            idle: settings.idle_timeout,
            total: settings.total_timeout,
            end,
            state: State::Silent { until: from_now(first_byte) },
        }
    }

    /// What `future` comes to, if that is soon enough.
    pub(super) async fn wait<T>(
        &self,
        future: impl Future<Output = T>,
    ) -> Result<T, UpstreamError> {
        let (until, error) = self.bound();
        timeout_at(until, future).await.map_err(|_| error)
    }

    /// Bytes of the answer have come.
    pub(super) fn heard(&mut self) {
        self.state = State::Speaking;
    }

    /// The nearest bound, and what is wrong where it is passed.
    fn bound(&self) -> (Instant, UpstreamError) {
        let next = match self.state {
            State::Silent { until } => (until, UpstreamError::Silent(self.first_byte)),
            State::Speaking => (from_now(self.idle), UpstreamError::Stalled(self.idle)),
        };
        match self.end < next.0 {
            true => (self.end, UpstreamError::Unending(self.total)),
            false => next,
        }
    }
}
