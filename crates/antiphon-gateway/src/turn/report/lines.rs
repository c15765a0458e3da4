//! Log lines of turns: one short line for each, however long its history is. At the level `debug`,
//! a second line lists the entries that the first only counts. The span has the request's id, the
//! tenant, the conversation, the model and the upstream.

use antiphon::stream::{Finished, Status};
use antiphon_store::NewResponse;

use super::Report;
use crate::error::ApiError;
use crate::request::CreateRequest;
use crate::trace::{MAX_REASON, shortened};
use crate::upstream::{known_code, known_path};

impl Report {
    /// Logs the end of a turn. `response` is the id of the response, if it can be read now.
    pub(in crate::turn) fn log(
        &self,
        request: &CreateRequest,
        response: Option<&str>,
        finished: &Finished,
        failure: Option<&ApiError>,
    ) {
        let not_committed = failure.map(ApiError::to_string);
        macro_rules! log_at {
            ($level:ident) => {
                tracing::$level!(
                    response,
                    // A turn that could not be stored has failed, even if its model completed.
                    status = failure.map_or(finished.status, |_| Status::Failed).as_str(),
                    failure = finished.failure.as_ref().and_then(|it| known_code(&it.code)),
                    not_committed =
                        not_committed.as_deref().map(|text| shortened(text, MAX_REASON)),
                    streamed = request.stream,
                    stored = request.store,
                    input_items = self.input_items,
                    resent = self.resent.len(),
                    output_items = finished.output.len(),
                    retries = (self.retries > 0).then_some(self.retries),
                    repairs = self.changes.counts(),
                    repaired = self.changes.named_repairs(),
                    truncated = counted(self.changes.truncated.len()),
                    stream_repairs = counted(self.stream.len()),
                    "turn"
                )
            };
        }
        if finished.status == Status::Failed || failure.is_some() {
            log_at!(warn);
        } else {
            log_at!(info);
        }
        self.log_list();
    }

    /// Logs a turn that is queued in the background of the upstream that owns it.
    pub(in crate::turn) fn log_queued(&self, response: Option<&str>, status: &str) {
        tracing::info!(
            response,
            status = known_status(status),
            input_items = self.input_items,
            resent = self.resent.len(),
            repairs = self.changes.counts(),
            repaired = self.changes.named_repairs(),
            "turn is in the upstream's background"
        );
        self.log_list();
    }

    /// Logs that a history was compacted for a caller.
    pub(in crate::turn) fn log_compaction(&self, model: &str) {
        tracing::info!(
            model,
            input_items = self.input_items,
            resent = self.resent.len(),
            repairs = self.changes.counts(),
            repaired = self.changes.named_repairs(),
            truncated = counted(self.changes.truncated.len()),
            "history compacted"
        );
        self.log_list();
    }

    /// Logs the full report at the level `debug`.
    fn log_list(&self) {
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

/// The status, if the API defines it.
fn known_status(status: &str) -> Option<&str> {
    const KNOWN: [&str; 6] =
        ["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"];
    KNOWN.contains(&status).then_some(status)
}

fn counted(count: usize) -> Option<usize> {
    (count > 0).then_some(count)
}

/// Logs that an answer was replayed.
pub(in crate::turn) fn log_again(response: &NewResponse) {
    tracing::info!(response = response.id.as_str(), "turn answered again");
}

/// Logs a turn request that could not be parsed. Its error may repeat any value of the request, so
/// only the code and the field are logged.
pub(crate) fn log_unreadable(error: &ApiError) {
    if matches!(error, ApiError::Upstream(_)) || error.status().is_server_error() {
        return log_refusal(error);
    }
    let (status, code) = (error.status().as_u16(), error.code());
    let param = error.param().and_then(known_path);
    tracing::info!(status, code, param, "turn refused");
}

/// Logs a rejected turn, at the level `warn` if the caller is not at fault.
pub(crate) fn log_refusal(error: &ApiError) {
    let (status, message) = (error.status().as_u16(), error.to_string());
    let reason = shortened(&message, MAX_REASON);
    if error.status().is_server_error() {
        tracing::warn!(status, reason, "turn refused");
    } else {
        tracing::info!(status, reason, "turn refused");
    }
}
