//! Logs the outages of a receiver, with one line at the start and one at the end.

use std::sync::Mutex;
use std::sync::PoisonError;

/// The state of a receiver.
///
/// ```text
/// Working ── a failed export ──> Failing ── a successful export ──> Working
/// ```
#[derive(Debug, Default)]
pub(super) struct Outage(Mutex<State>);

#[derive(Debug, Default)]
enum State {
    /// The last export succeeded, or there was none.
    #[default]
    Working,
    /// The last export failed. `lost` entries were not exported since the first failure.
    Failing { lost: usize },
}

impl Outage {
    /// Records the result of an export of `count` entries of this kind of telemetry. `reason` is
    /// the clause of the failure.
    pub(super) fn record(&self, what: &str, count: usize, failure: Option<String>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (&mut *state, failure) {
            (State::Working, None) => {}
            (State::Working, Some(reason)) => {
                tracing::warn!(
                    reason,
                    "could not export {what}; they are lost until the receiver answers, and turns \
                     are not affected; check OTEL_EXPORTER_OTLP_ENDPOINT"
                );
                *state = State::Failing { lost: count };
            }
            (State::Failing { lost }, Some(_)) => *lost += count,
            (State::Failing { lost }, None) => {
                tracing::info!(lost = *lost, "exporting {what} again");
                *state = State::Working;
            }
        }
    }
}
