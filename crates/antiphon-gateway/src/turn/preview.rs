//! Builds the prompt of a request without a turn, and counts its tokens.

use bytes::Bytes;

use super::context::Turn;
use super::encode;
use super::plan::{Plan, Planner};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::request::CreateRequest;
use crate::tokens;
use crate::upstream::{RetrySession, Upstream};

/// The number of tokens of a request, and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenCount {
    /// Counted by the model's server.
    Upstream(u64),
    /// Estimated by the gateway.
    Estimated(u64),
}

/// The prompt that a request would send if it were a turn now. Nothing is opened, stored or sent.
pub(crate) struct Preview<'a> {
    pub(super) plan: Plan,
    upstream: Upstream<'a>,
}

impl<'a> Preview<'a> {
    /// Looks up, reconciles and repairs the input. Fails with the same errors as a turn.
    pub(crate) async fn new(
        gateway: &'a Gateway,
        caller: &Caller,
        request: &CreateRequest,
    ) -> Result<Self, ApiError> {
        let turn = Turn::new(gateway, caller, request);
        let upstream = gateway.upstream_of(&request.model)?;
        let planner = Planner::new(&turn, upstream);
        let held = turn.load(turn.find_cursor().await?).await?;
        let input = turn.resolve(&held, request.input.clone()).await?;
        let mut plan = planner.plan(held, input, None)?;
        if turn.truncates() {
            // A prompt that is still too long is shown unchanged.
            drop(planner.fit(&mut plan).await);
        }
        Ok(Self { plan, upstream })
    }

    /// The upstream that would answer.
    pub(crate) fn upstream(&self) -> Upstream<'a> {
        self.upstream
    }

    /// Counts the tokens of the preview's request. Asks the upstream if it can count, and remembers
    /// an upstream that cannot.
    pub(crate) async fn count_tokens(
        &self,
        gateway: &Gateway,
        caller: &Caller,
        request: &CreateRequest,
    ) -> Result<TokenCount, ApiError> {
        let (plan, upstream) = (&self.plan, self.upstream);
        let without = &gateway.upstreams.without_token_counts;
        if !without.contains(&plan.origin) {
            let body = counted_body(request, plan);
            match RetrySession::new(upstream, &request.model).count_tokens(body, caller).await? {
                Some(tokens) => return Ok(TokenCount::Upstream(tokens)),
                None => without.insert(&plan.origin),
            }
        }
        let weights = tokens::weigh(&request.fields, &plan.prompt.view).await?;
        Ok(TokenCount::Estimated(weights.total()))
    }
}

fn counted_body(request: &CreateRequest, plan: &Plan) -> Bytes {
    match &plan.prompt.encoded {
        Some(body) => body.clone(),
        None => encode::encode_for_count(request, &plan.prompt.view),
    }
}
