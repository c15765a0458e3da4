//! The end of a watch, and its log line.

use antiphon::json::Object;
use antiphon::provider_api::StoredResponse;
use antiphon::stream::Status;

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

/// Values of the response for the log line.
struct ResponseFacts {
    failure: Option<String>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl WatchOutcome {
    /// The status of the response, if it ended with a status of the API.
    pub(super) fn status(&self) -> Option<Status> {
        let Self::Response(response) = self else { return None };
        let statuses = [Status::Completed, Status::Failed, Status::Incomplete, Status::Cancelled];
        statuses.into_iter().find(|status| status.as_str() == response.status)
    }

    /// Logs the end in the same form as other turns.
    pub(super) fn log(&self, response: &str, turn: &WatchedTurn) {
        match self {
            Self::Response(ended) => log_turn(response, self.status(), ended, turn),
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

fn log_turn(response: &str, status: Option<Status>, ended: &StoredResponse, turn: &WatchedTurn) {
    let ResponseFacts { failure, input_tokens, output_tokens } = ResponseFacts::read(ended);
    macro_rules! log_at {
        ($level:ident) => {
            tracing::$level!(
                response,
                status = status.map(Status::as_str),
                failure,
                background = true,
                stored = true,
                input_items = turn.input_items,
                output_items = ended.output.len(),
                input_tokens,
                output_tokens,
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

impl ResponseFacts {
    fn read(ended: &StoredResponse) -> Self {
        let fields = Object::parse(&ended.body).unwrap_or_default();
        let object = |key| Object::parse_str(fields.present(key)?).ok();
        let (error, usage) = (object("error"), object("usage"));
        let code = error.as_ref().and_then(|error| error.string("code"));
        let tokens = |key| usage.as_ref().and_then(|usage| usage.get(key)?.parse().ok());
        Self {
            failure: code.as_deref().and_then(known_code).map(str::to_owned),
            input_tokens: tokens("input_tokens"),
            output_tokens: tokens("output_tokens"),
        }
    }
}
