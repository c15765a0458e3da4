//! Builds the prompt of a request without a turn.

use super::Turn;
use super::plan::Plan;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::request::CreateRequest;
use crate::upstream::Upstream;

/// The prompt that a request would send if it were a turn now. Nothing is opened, stored or sent.
pub(crate) struct Preview<'a> {
    pub(super) plan: Plan,
    upstream: Upstream<'a>,
}

impl<'a> Preview<'a> {
    /// Looks up, reconciles and repairs the input. Fails with the same errors as a turn.
    pub(crate) async fn of(
        gateway: &'a Gateway,
        caller: &Caller,
        request: &CreateRequest,
    ) -> Result<Self, ApiError> {
        let turn = Turn::of(gateway, caller, request);
        let upstream = gateway.upstream_of(&request.model)?;
        let held = turn.load(turn.begins_at().await?).await?;
        let input = turn.resolve(&held, request.input.clone()).await?;
        let mut plan = turn.plan(held, input, upstream)?;
        if turn.truncates() {
            // A prompt that is still too long is shown unchanged.
            drop(turn.fit(&mut plan, upstream).await);
        }
        Ok(Self { plan, upstream })
    }

    /// The plan of the request.
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The upstream that would answer.
    pub(crate) fn upstream(&self) -> Upstream<'a> {
        self.upstream
    }
}
