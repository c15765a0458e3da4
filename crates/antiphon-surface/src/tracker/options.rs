//! The options of a tracker.

use antiphon::tracker::{Continuation, ContinuationOptions, ReasoningIds};
use serde::Deserialize;

use super::TrackerError;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Options {
    #[serde(default)]
    conversation: Option<String>,
    #[serde(default)]
    previous_response_id: Option<String>,
    #[serde(default)]
    auto_previous_response_id: bool,
    #[serde(default)]
    session: bool,
    #[serde(default)]
    pub(super) reasoning_ids: ReasoningIds,
}

impl Options {
    pub(super) fn parse(options: &str) -> Result<Self, TrackerError> {
        serde_json::from_str(options).map_err(|error| TrackerError::Options(error.to_string()))
    }

    pub(super) fn continuation(self) -> Result<Continuation, TrackerError> {
        let options = ContinuationOptions {
            conversation_id: self.conversation.map(Into::into),
            previous_response_id: self.previous_response_id.map(Into::into),
            auto_previous_response_id: self.auto_previous_response_id,
            session: self.session,
        };
        options.choose()?.ok_or(TrackerError::NoServerState)
    }
}
