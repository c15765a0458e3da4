//! The requests to upstreams that fail.

use prometheus::{IntCounter, IntCounterVec};

use super::families::{Families, counters};

/// The failures and retries of all upstreams.
#[derive(Clone, Debug)]
pub(crate) struct UpstreamMetrics {
    retries: IntCounterVec,
    errors: IntCounterVec,
}

/// The counters of one upstream.
#[derive(Clone, Debug)]
pub(crate) struct UpstreamCounters {
    label: String,
    retries: IntCounter,
    errors: IntCounterVec,
}

impl UpstreamMetrics {
    pub(super) fn new(to: &Families) -> Self {
        Self {
            retries: counters(
                to,
                "antiphon_upstream_retries_total",
                "Requests that were sent to an upstream again.",
                &["upstream"],
            ),
            errors: counters(
                to,
                "antiphon_upstream_errors_total",
                "Requests to an upstream that failed, each attempt, by the kind of the error or \
                 the status of the answer.",
                &["upstream", "error"],
            ),
        }
    }

    /// The counters of the upstream with this name.
    pub(crate) fn counters(&self, label: &str) -> UpstreamCounters {
        let retries = self.retries.with_label_values(&[label]);
        UpstreamCounters { label: label.to_owned(), retries, errors: self.errors.clone() }
    }

    /// Counters that no exporter reads.
    #[cfg(test)]
    pub(crate) fn unread() -> Self {
        Self::new(&Families::default())
    }
}

impl UpstreamCounters {
    /// Counts a retry.
    pub(crate) fn count_retry(&self) {
        self.retries.inc();
    }

    /// Counts an error of this kind.
    pub(crate) fn count_error(&self, kind: &str) {
        self.errors.with_label_values(&[&*self.label, kind]).inc();
    }
}
