//! The end of a turn that leaves no response.

use antiphon::stream::Failure;
use tokio::time::Instant;

use super::context::Turn;
use super::finished::TurnEnd;
use crate::entropy::unix_now;
use crate::error::ApiError;
use crate::refused_turns::RefusedTurn;

impl Turn<'_> {
    /// Makes a turn that ended before its answer began known to the operator and to its caller.
    pub(super) fn publish_refusal(&self, error: &ApiError) {
        self.remember_failure(error.as_failure());
        self.finished(TurnEnd::Refused(error)).publish();
    }

    /// Remembers the request of a turn that leaves no response, so that its context can be read.
    pub(super) fn remember_failure(&self, failure: Failure) {
        let refused = RefusedTurn {
            request_id: self.caller.request_id.to_string(),
            tenant: self.caller.tenant.clone(),
            created_at: unix_now(),
            fields: self.request.fields.clone(),
            items: self.request.input.clone(),
            code: Some(failure.code),
            message: failure.message,
        };
        self.gateway.refused_turns.add(refused, Instant::now());
    }
}
