//! The work of the store.

use std::time::Duration;

use antiphon_store::{StoreLoad, StoreObserver};
use prometheus::{Histogram, IntCounter, IntGauge};

use super::families::{Families, WORK_SECONDS, counter, gauge, histogram};

/// The sizes of groups of writes: the writer of SQLite commits up to 256 together.
const GROUP_SIZES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// The work of the store.
#[derive(Debug)]
pub(super) struct StoreMetrics {
    seconds: Histogram,
    group: Histogram,
    failures: IntCounter,
    in_use: IntGauge,
    maximum: IntGauge,
    waiting: IntGauge,
}

impl StoreMetrics {
    pub(super) fn new(to: &Families) -> Self {
        Self {
            seconds: histogram(
                to,
                "antiphon_store_commit_seconds",
                "How long the store took to commit a group of writes.",
                &WORK_SECONDS,
            ),
            group: histogram(
                to,
                "antiphon_store_commit_writes",
                "How many writes the store committed together.",
                &GROUP_SIZES,
            ),
            failures: counter(to, "antiphon_store_commit_failures_total", "Commits that failed."),
            in_use: gauge(
                to,
                "antiphon_store_connections_in_use",
                "Connections of the pool that are in use. With SQLite, those that read.",
            ),
            maximum: gauge(
                to,
                "antiphon_store_connections_max",
                "The maximum number of connections in the pool.",
            ),
            waiting: gauge(
                to,
                "antiphon_store_calls_waiting",
                "Calls that wait for a connection of the pool or for the writer.",
            ),
        }
    }

    pub(super) fn set_load(&self, load: StoreLoad) {
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.in_use.set(number(load.connections_in_use));
        self.maximum.set(number(load.max_connections));
        self.waiting.set(number(load.waiting_calls));
    }
}

impl StoreObserver for StoreMetrics {
    fn committed(&self, writes: usize, took: Duration, is_success: bool) {
        self.seconds.observe(took.as_secs_f64());
        self.group.observe(u32::try_from(writes).unwrap_or(u32::MAX).into());
        if !is_success {
            self.failures.inc();
        }
    }
}
