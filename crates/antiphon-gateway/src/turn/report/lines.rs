//! The parts of log lines that come from a report.

use super::Report;

impl Report {
    /// Logs that a history was compacted for a caller.
    pub(in crate::turn) fn log_compaction(&self, model: &str) {
        tracing::info!(
            model,
            input_items = self.input_items,
            resent = self.resent.len(),
            repairs = self.repairs(),
            truncated = counted(self.truncated()),
            "history compacted"
        );
        self.log_list();
    }

    /// Logs the full report at the level `debug`.
    pub(in crate::turn) fn log_list(&self) {
        if tracing::enabled!(tracing::Level::DEBUG) && !self.says_nothing() {
            tracing::debug!(report = self.to_json(), "turn report");
        }
    }

    fn says_nothing(&self) -> bool {
        !self.superseding
            && self.relearned.is_none()
            && self.replayed.is_none()
            && self.resent.is_empty()
            && self.changes.is_empty()
            && self.stream.is_empty()
    }
}

/// The count, unless it is zero.
pub(in crate::turn) fn counted(count: usize) -> Option<usize> {
    (count > 0).then_some(count)
}
