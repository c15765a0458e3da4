//! The waits of turns for other turns.

use prometheus::{Histogram, IntGauge};
use tokio::time::Instant;

use super::families::{CALL_SECONDS, Families, gauge, histogram};

/// The queues of conversations, responses and requests together.
#[derive(Clone, Debug)]
pub(crate) struct QueueMetrics {
    waiting: IntGauge,
    seconds: Histogram,
}

/// One wait, until it is dropped.
#[derive(Debug)]
pub(crate) struct QueueWait {
    metrics: QueueMetrics,
    begun: Instant,
}

impl QueueMetrics {
    pub(super) fn new(to: &Families) -> Self {
        Self {
            waiting: gauge(to, "antiphon_turns_waiting", "Turns that wait for other turns."),
            seconds: histogram(
                to,
                "antiphon_queue_wait_seconds",
                "How long turns waited for other turns. Turns that did not wait are not counted.",
                &CALL_SECONDS,
            ),
        }
    }

    /// Begins a wait, which lasts until the result is dropped.
    pub(crate) fn wait(&self) -> QueueWait {
        self.waiting.inc();
        QueueWait { metrics: self.clone(), begun: Instant::now() }
    }

    /// Metrics that no exporter reads.
    #[cfg(test)]
    pub(crate) fn unread() -> Self {
        Self::new(&Families::default())
    }
}

impl Drop for QueueWait {
    fn drop(&mut self) {
        self.metrics.waiting.dec();
        self.metrics.seconds.observe(self.begun.elapsed().as_secs_f64());
    }
}
