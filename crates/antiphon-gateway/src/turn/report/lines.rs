//! Log lines of turns: one short line for each, however long its history is. At the level `debug`,
//! a second line lists the entries that the first only counts. The span has the request's id, the
//! tenant, the conversation, the model and the upstream.

use std::fmt::Write as _;

use antiphon::ItemId;
use antiphon::item::CallId;
use antiphon::stream::{Finished, Status};
use antiphon_store::NewResponse;

use super::Report;
use crate::error::ApiError;
use crate::request::CreateRequest;
use crate::trace::{MAX_REASON, shortened};
use crate::upstream::{known_code, known_path};

/// How many repairs a line names. It counts all of them.
const NAMED: usize = 3;
/// The maximum length of the id of a repaired item, in characters.
const MAX_ID: usize = 32;

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
                    repairs = self.repairs_counted(),
                    repaired = self.repairs_named(),
                    truncated = counted(self.truncated.len()),
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
            repairs = self.repairs_counted(),
            repaired = self.repairs_named(),
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
            repairs = self.repairs_counted(),
            repaired = self.repairs_named(),
            truncated = counted(self.truncated.len()),
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
            && self.repairs.is_empty()
            && self.adapted_fields.is_empty()
            && self.truncated.is_empty()
            && self.stream.is_empty()
    }

    /// Counts the repairs as `fault=N, …`; `None` if there are none.
    fn repairs_counted(&self) -> Option<String> {
        Some(self.counts()).filter(|counts| !counts.is_empty())
    }

    /// Names the first repairs with their items, as `fault item, …`, and counts the others.
    fn repairs_named(&self) -> Option<String> {
        let mut text = String::new();
        for repair in self.repairs.iter().take(NAMED) {
            let comma = if text.is_empty() { "" } else { ", " };
            let call_id = || repair.call_id.as_ref().map(CallId::as_str);
            let item = repair.id.as_ref().map(ItemId::as_str).or_else(call_id);
            let item = item.unwrap_or(repair.kind.as_str());
            let item = shortened(item, MAX_ID);
            write!(text, "{comma}{} {item}", repair.fault).expect("a string takes all");
        }
        let rest = self.repairs.len().saturating_sub(NAMED);
        if rest > 0 {
            write!(text, " and {rest} more").expect("a string takes all");
        }
        (!text.is_empty()).then_some(text)
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
