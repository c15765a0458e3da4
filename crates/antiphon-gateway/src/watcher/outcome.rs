//! The end of a watch, and its log line.

use antiphon::json::Object;
use antiphon::provider_api::StoredResponse;
use antiphon::stream::{Status, Usage};

use crate::upstream::known_code;
use crate::watches::WatchedTurn;

/// How a watch ended.
pub(super) enum WatchOutcome {
    /// The response has ended.
    Response(Box<StoredResponse>),
    /// The upstream has deleted the response.
    Gone,
    /// The response was still running at the end of the watch.
    Unknown,
}

/// The values of a response that ended, for its operator.
pub(super) struct WatchResult {
    /// The code of the failure, if it consists of known words.
    pub(super) failure: Option<String>,
    pub(super) usage: Option<Usage>,
}

impl WatchOutcome {
    /// The status of the response, if it ended with a status of the API.
    pub(super) fn status(&self) -> Option<Status> {
        let Self::Response(response) = self else { return None };
        let statuses = [Status::Completed, Status::Failed, Status::Incomplete, Status::Cancelled];
        statuses.into_iter().find(|status| status.as_str() == response.status)
    }

    /// The values of the response, if it ended.
    pub(super) fn result(&self) -> Option<WatchResult> {
        match self {
            Self::Response(response) => Some(WatchResult::read(response)),
            Self::Gone | Self::Unknown => None,
        }
    }

    /// Logs the end in the same form as other turns.
    pub(super) fn log(&self, response: &str, turn: &WatchedTurn, cost: Option<f64>) {
        match self {
            Self::Response(ended) => {
                let result = WatchResult::read(ended);
                result.log(response, self.status(), (turn.input_items, ended.output.len()), cost);
            }
            Self::Gone => tracing::info!(
                response,
                "a background response was deleted at the upstream; no webhook is sent"
            ),
            Self::Unknown => tracing::warn!(
                response,
                "a background response did not end within 24 hours; no webhook is sent"
            ),
        }
    }
}

impl WatchResult {
    fn read(ended: &StoredResponse) -> Self {
        let fields = Object::parse(&ended.body).unwrap_or_default();
        let error = fields.present("error").and_then(|error| Object::parse_str(error).ok());
        let code = error.as_ref().and_then(|error| error.string("code"));
        Self {
            failure: code.as_deref().and_then(known_code).map(str::to_owned),
            usage: fields.present("usage").and_then(Usage::from_json),
        }
    }

    /// Logs the turn, with the numbers of its input and output items.
    fn log(
        &self,
        response: &str,
        status: Option<Status>,
        (input_items, output_items): (usize, usize),
        cost: Option<f64>,
    ) {
        let (failure, usage) = (self.failure.as_deref(), self.usage);
        macro_rules! log_at {
            ($level:ident) => {
                tracing::$level!(
                    response,
                    status = status.map(Status::as_str),
                    failure,
                    background = true,
                    input_items,
                    output_items,
                    input_tokens = usage.map(|usage| usage.input_tokens),
                    cached = usage.map(|usage| usage.cached_tokens),
                    output_tokens = usage.map(|usage| usage.output_tokens),
                    reasoning = usage.map(|usage| usage.reasoning_tokens),
                    cost,
                    "turn"
                )
            };
        }
        if status == Some(Status::Failed) {
            log_at!(warn);
        } else {
            log_at!(info);
        }
    }
}
