//! What a model would be given, without a turn.

use super::Turn;
use super::plan::Plan;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::request::CreateRequest;
use crate::upstream::Upstream;

/// What the model would be given if a request were a turn now. Nothing is opened, kept or sent.
pub(crate) struct Preview<'a> {
    pub(super) plan: Plan,
    upstream: Upstream<'a>,
}

impl<'a> Preview<'a> {
    /// Looks up, reconciles and mends what the request says. It is refused as a turn would be.
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
            // What is too long even so is shown as it is.
            drop(turn.fit(&mut plan, upstream).await);
        }
        Ok(Self { plan, upstream })
    }

    /// What would be sent.
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Who would answer.
    pub(crate) fn upstream(&self) -> Upstream<'a> {
        self.upstream
    }
}
