//! The time limits of an answer.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::error::UpstreamError;
use crate::entropy::from_now;
use crate::settings::UpstreamSettings;

/// The time limits of one answer, and its progress.
///
/// ```text
///   AwaitingFirstByte ── bytes ──> Receiving ── bytes ──> Receiving
/// ```
///
/// Any bytes count as progress, including comments of an event stream, which servers send as
/// keep-alive while a model thinks. The total time limit `end` covers such streams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    first_byte: Duration,
    idle: Duration,
    total: Duration,
    end: Instant,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    AwaitingFirstByte { until: Instant },
    Receiving,
}

impl Timeouts {
    /// Starts the limits for a request that is sent now and must be complete at `end`.
    pub(super) fn new(settings: &UpstreamSettings, end: Instant) -> Self {
        let first_byte = settings.first_byte_timeout;
        Self {
            first_byte,
            idle: settings.idle_timeout,
            total: settings.total_timeout,
            end,
            state: State::AwaitingFirstByte { until: from_now(first_byte) },
        }
    }

    /// Waits for an answer that has no byte before its end.
    pub(super) fn for_whole_answer(self) -> Self {
        Self { state: State::AwaitingFirstByte { until: self.end }, ..self }
    }

    /// Waits for `future` until the nearest limit.
    pub(super) async fn wait<T>(
        &self,
        future: impl Future<Output = T>,
    ) -> Result<T, UpstreamError> {
        let (until, error) = self.bound();
        timeout_at(until, future).await.map_err(|_| error)
    }

    /// Records that bytes of the answer arrived.
    pub(super) fn record_progress(&mut self) {
        self.state = State::Receiving;
    }

    /// The nearest limit, and its error.
    fn bound(&self) -> (Instant, UpstreamError) {
        let next = match self.state {
            State::AwaitingFirstByte { until } => {
                (until, UpstreamError::FirstByteTimeout(self.first_byte))
            }
            State::Receiving => (from_now(self.idle), UpstreamError::IdleTimeout(self.idle)),
        };
        match self.end <= next.0 {
            true => (self.end, UpstreamError::TotalTimeout(self.total)),
            false => next,
        }
    }
}
