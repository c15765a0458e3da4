//! Builds the prompt of a request without a turn, and counts its tokens.

use antiphon_store::{ConversationId, Cursor, ResponseId};
use bytes::Bytes;

use super::context::Turn;
use super::encode;
use super::plan::{Plan, Planner};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::request::{Continues, CreateRequest};
use crate::span::Stage;
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
    pub(super) plan: Box<Plan>,
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
        let upstream = gateway.upstream_for_model(&request.model)?;
        let planner = Planner::new(&turn, upstream);
        let stage = turn.stage(Stage::Load);
        let held = async { turn.load(find_cursor(&turn).await?).await };
        let held = stage.close(held.await)?;
        let stage = turn.stage(Stage::Reconcile);
        let mut plan = stage.close(planner.plan(held, None).await)?;
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
        let weights = tokens::estimate_tokens(&request.fields, &plan.prompt.view).await?;
        Ok(TokenCount::Estimated(weights.total()))
    }
}

/// The cursor that a turn of this request would continue; `None` for a new thread. Opens nothing,
/// and waits for an open turn only if the request names its response.
async fn find_cursor(turn: &Turn<'_>) -> Result<Option<Cursor>, ApiError> {
    match &turn.request.continues {
        Continues::Nothing => Ok(None),
        Continues::Response(text) => {
            let unknown = || turn.gateway.previous_response_not_found(text);
            let id = ResponseId::parse(text).ok_or_else(unknown)?;
            Ok(Some(turn.wait_for_response(&id).await?.ok_or_else(unknown)?.cursor))
        }
        Continues::Conversation(text) => {
            let unknown = || turn.gateway.conversation_not_found(text);
            let id = ConversationId::parse(text).ok_or_else(unknown)?;
            let found = turn.gateway.store.conversation(&turn.caller.tenant, &id).await?;
            Ok(Some(found.ok_or_else(unknown)?.1))
        }
    }
}

fn counted_body(request: &CreateRequest, plan: &Plan) -> Bytes {
    match &plan.prompt.encoded {
        Some(body) => body.clone(),
        None => encode::encode_for_count(request, &plan.prompt.view),
    }
}
