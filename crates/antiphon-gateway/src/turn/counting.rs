//! Counts the tokens of a prompt.

use super::encode;
use super::plan::Plan;
use super::preview::Preview;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::request::CreateRequest;
use crate::tokens;
use crate::upstream::RetrySession;

/// The number of tokens of a request, and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenCount {
    /// Counted by the model's server.
    Upstream(u64),
    /// Estimated by the gateway.
    Estimated(u64),
}

impl Preview<'_> {
    /// Counts the tokens of the preview's request. Asks the upstream if it can count, and remembers
    /// an upstream that cannot.
    pub(crate) async fn count_tokens(
        &self,
        gateway: &Gateway,
        caller: &Caller,
        request: &CreateRequest,
    ) -> Result<TokenCount, ApiError> {
        let (plan, upstream) = (self.plan(), self.upstream());
        let without = &gateway.upstreams.without_token_counts;
        if !without.contain(&plan.origin) {
            let body = counted_body(request, plan);
            match RetrySession::of(upstream, &request.model).count_tokens(body, caller).await? {
                Some(tokens) => return Ok(TokenCount::Upstream(tokens)),
                None => without.remember(&plan.origin),
            }
        }
        let weights = tokens::weigh(&request.fields, &plan.prompt.view).await?;
        Ok(TokenCount::Estimated(weights.total()))
    }
}

fn counted_body(request: &CreateRequest, plan: &Plan) -> bytes::Bytes {
    match &plan.prompt.encoded {
        Some(body) => body.clone(),
        None => encode::for_count(request, &plan.prompt.view),
    }
}
