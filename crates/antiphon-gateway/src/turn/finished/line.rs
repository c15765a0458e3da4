//! The log line of a turn: one short line for each, however long its history is. At the level
//! `debug`, a second line lists the entries that the first only counts. The span has the request's
//! id, the tenant, the conversation, the model and the upstream.

use std::time::Duration;

use antiphon::stream::{Finished, Status, Usage};

use super::{FinishedTurn, TurnEnd, TurnOutcome};
use crate::error::ApiError;
use crate::trace::{MAX_REASON, shortened};
use crate::turn::report::{Report, counted};
use crate::upstream::{known_code, known_path};

/// Logs at the level `warn` if the condition is true, and at `info` otherwise. The target is the
/// shortest one that the filters of this crate match.
macro_rules! log_at {
    ($is_warning:expr, $($fields:tt)*) => {
        if $is_warning {
            tracing::warn!(target: "antiphon_gateway", $($fields)*);
        } else {
            tracing::info!(target: "antiphon_gateway", $($fields)*);
        }
    };
}

impl FinishedTurn<'_> {
    /// Logs the turn, at the level `warn` if it failed and the caller is not at fault.
    pub(super) fn log(&self) {
        let response = self.response;
        match self.end {
            TurnEnd::Answered { finished, not_stored, .. } => self.log_answer(finished, not_stored),
            TurnEnd::Refused(error) => self.log_refusal(error),
            TurnEnd::Unreadable(error) => self.log_unreadable(error),
            TurnEnd::Disconnected => {
                log_at!(false, total_ms = self.total_ms(), "client disconnected before the answer");
            }
            TurnEnd::Replayed => {
                log_at!(false, response, "turn answered again");
            }
            TurnEnd::Queued(status) => self.log_queued(status),
            TurnEnd::WithoutOutput(status) => log_at!(
                status == Status::Failed,
                response,
                status = status.as_str(),
                "background response ended without output"
            ),
        }
        if let Some(report) = self.report {
            report.log_list();
        }
    }

    fn log_answer(&self, finished: &Finished, not_stored: Option<&ApiError>) {
        let (items, usage) = (self.items, self.usage());
        let tokens = |count: fn(Usage) -> u64| usage.map(count);
        let reason = not_stored.map(ApiError::to_string);
        log_at!(
            self.outcome() == TurnOutcome::Failed,
            response = self.response,
            status = self.status(finished),
            failure = finished.failure.as_ref().and_then(|it| known_code(&it.code)),
            not_stored = reason.as_deref().map(|text| shortened(text, MAX_REASON)),
            total_ms = self.total_ms(),
            first_event_ms = self.times.first_event.map(milliseconds),
            waited_ms = nonzero(milliseconds(self.times.waited)),
            own_ms = milliseconds(self.times.own),
            new = items.new,
            known = items.known,
            input_tokens = tokens(|usage| usage.input_tokens),
            cached = tokens(|usage| usage.cached_tokens).and_then(nonzero),
            output_tokens = tokens(|usage| usage.output_tokens),
            reasoning = tokens(|usage| usage.reasoning_tokens).and_then(nonzero),
            cost = self.cost(),
            retries = nonzero(self.retries().into()),
            repairs = self.report.and_then(Report::repairs),
            truncated = self.report.and_then(|report| counted(report.truncated())),
            stream_repairs = counted(self.stream_repairs().count()),
            "turn"
        );
    }

    /// The status of the response, or `failed` if it could not be stored. A response whose client
    /// disconnected is `cancelled` for the API.
    fn status(&self, finished: &Finished) -> &'static str {
        match self.outcome() {
            TurnOutcome::Disconnected => finished.status.as_str(),
            outcome => outcome.as_str(),
        }
    }

    fn log_refusal(&self, error: &ApiError) {
        let (status, message) = (error.status(), error.to_string());
        log_at!(
            self.outcome() == TurnOutcome::Failed,
            status = status.as_u16(),
            reason = shortened(&message, MAX_REASON),
            total_ms = self.total_ms(),
            "turn refused"
        );
    }

    /// Logs a request that could not be parsed. Its error may repeat any value of the request, so
    /// only the code and the field are logged.
    fn log_unreadable(&self, error: &ApiError) {
        if matches!(error, ApiError::Upstream(_)) || error.status().is_server_error() {
            return self.log_refusal(error);
        }
        let (status, code) = (error.status().as_u16(), error.code());
        let param = error.param().and_then(known_path);
        log_at!(false, status, code, param, "turn refused");
    }

    /// Logs a turn that is queued in the background of the upstream that owns it.
    fn log_queued(&self, status: &str) {
        log_at!(
            false,
            response = self.response,
            status = known_status(status),
            total_ms = self.total_ms(),
            new = self.items.new,
            known = self.items.known,
            repairs = self.report.and_then(Report::repairs),
            "turn is in the upstream's background"
        );
    }

    fn total_ms(&self) -> u64 {
        milliseconds(self.times.total)
    }
}

/// The status, if the API defines it.
fn known_status(status: &str) -> Option<&str> {
    const KNOWN: [&str; 6] =
        ["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"];
    KNOWN.contains(&status).then_some(status)
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn nonzero(count: u64) -> Option<u64> {
    (count > 0).then_some(count)
}
