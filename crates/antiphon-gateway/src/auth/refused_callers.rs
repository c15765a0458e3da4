//! Counts callers without a valid key, and logs the counts at intervals.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The minimum time between two log lines, so that an attacker who tries keys does not fill the
/// log.
const PERIOD: Duration = Duration::from_secs(10);

/// Counts rejected callers.
#[derive(Default)]
pub(crate) struct RefusedCallers(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    total: u64,
    /// The number of callers since the last log line.
    unlogged: u64,
    logged_at: Option<Instant>,
}

/// The values of one log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LogLine {
    /// Rejected since the last line.
    refused: u64,
    /// Rejected since the gateway started.
    total: u64,
}

impl RefusedCallers {
    /// Counts a caller, and logs the counts unless the last line is too recent.
    pub(crate) fn count(&self) {
        if let Some(LogLine { refused, total }) = self.line_at(Instant::now()) {
            tracing::warn!(refused, total, "refused callers without a valid API key (status 401)");
        }
    }

    fn line_at(&self, now: Instant) -> Option<LogLine> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.total += 1;
        counts.unlogged += 1;
        if counts.logged_at.is_some_and(|at| now.saturating_duration_since(at) < PERIOD) {
            return None;
        }
        counts.logged_at = Some(now);
        Some(LogLine { refused: std::mem::take(&mut counts.unlogged), total: counts.total })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_rare_and_count_all() {
        let (refused, start) = (RefusedCallers::default(), Instant::now());
        assert_eq!(refused.line_at(start), Some(LogLine { refused: 1, total: 1 }));
        for second in 1..10 {
            assert_eq!(refused.line_at(start + Duration::from_secs(second)), None);
        }
        let line = refused.line_at(start + PERIOD);
        assert_eq!(line, Some(LogLine { refused: 10, total: 11 }));
    }
}
