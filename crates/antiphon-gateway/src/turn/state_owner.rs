//! The owner of the state that a turn continues.

use antiphon_store::ConversationId;

use super::cancel::TurnError;
use super::client::Client;
use super::context::Turn;
use super::lane::recall;
use super::upstream_state::UpstreamTurn;
use crate::error::ApiError;
use crate::id_mapping::IdMapping;
use crate::owner::{KnownAs, Owner};
use crate::request::{Continues, RequestMode};
use crate::upstream::{HttpUpstream, Upstream};

/// The owner of the state, and of the turn that is added to it.
pub(super) enum StateOwner<'a> {
    /// The gateway.
    Here,
    /// This upstream. An mapping is present if callers know the conversation by another id.
    Upstream(&'a HttpUpstream, Option<IdMapping>),
    /// This upstream, after the conversation is bound to it.
    ToBeBound(&'a HttpUpstream, ConversationId),
}

/// Finds the owner of the state. State that nobody stored is replayed by the client or its
/// connection. A pending conversation stays at the gateway from now on if the model's upstream has
/// no conversations.
pub(super) async fn find_state_owner<'a>(
    turn: &Turn<'a>,
    upstream: Upstream<'a>,
) -> Result<StateOwner<'a>, ApiError> {
    let (gateway, continues) = (turn.gateway, &turn.request.continues);
    let is_here = match continues {
        Continues::Nothing => !turn.request.store || turn.request.mode != RequestMode::Answer,
        Continues::Response(id) => recall(turn, id).is_some(),
        Continues::Conversation(_) => false,
    };
    if is_here {
        return Ok(StateOwner::Here);
    }
    let owned = gateway.owners(turn.caller).owner_of_turn(continues, upstream).await?;
    Ok(match (owned.known_as, owned.owner, upstream) {
        (KnownAs::Pending(id), ..) => return decide_pending(turn, id, upstream).await,
        (known_as, Owner::Upstream(_), Upstream::Http(http)) => {
            StateOwner::Upstream(http, known_as.mapping())
        }
        _ => StateOwner::Here,
    })
}

/// Decides the owner of a conversation that has none yet.
async fn decide_pending<'a>(
    turn: &Turn<'a>,
    id: ConversationId,
    upstream: Upstream<'a>,
) -> Result<StateOwner<'a>, ApiError> {
    let (gateway, caller) = (turn.gateway, turn.caller);
    match gateway.owners(caller).owner_of_new_conversation_for(upstream).await {
        Owner::Upstream(http) => Ok(StateOwner::ToBeBound(http, id)),
        Owner::Gateway => match gateway.store.ledgers().bind_locally(&caller.tenant, &id).await? {
            true => Ok(StateOwner::Here),
            // Another turn has just decided.
            false => Err(ApiError::ConversationLocked),
        },
    }
}

/// Finds the owner of the state and binds a pending conversation to the turn's upstream.
pub(super) async fn bind_state_owner<'a>(
    turn: &Turn<'a>,
    upstream: Upstream<'a>,
) -> Result<StateOwner<'a>, ApiError> {
    let owner = find_state_owner(turn, upstream).await?;
    let StateOwner::ToBeBound(http, id) = owner else { return Ok(owner) };
    Box::pin(UpstreamTurn::new(turn, http, None).check_request()).await?;
    Box::pin(turn.gateway.owners(turn.caller).binding_of(&id).bind(http)).await?;
    match find_state_owner(turn, upstream).await? {
        owner @ StateOwner::Upstream(..) => Ok(owner),
        StateOwner::Here if !turn.request.background => Ok(StateOwner::Here),
        // The conversation has just become the gateway's. The next attempt will see that.
        StateOwner::Here | StateOwner::ToBeBound(..) => Err(ApiError::ConversationLocked),
    }
}

/// Runs a turn whose state this upstream owns, from start to end.
pub(super) async fn run_at_upstream(
    turn: &Turn<'_>,
    http: &HttpUpstream,
    mapping: Option<IdMapping>,
    client: &mut Client,
) -> Result<(), TurnError> {
    let Some(mapping) = mapping else {
        return Box::pin(UpstreamTurn::new(turn, http, None).take(client)).await;
    };
    let request = mapping.request(turn.request);
    let turn = Turn { request: &request, ..turn.clone() };
    let run = UpstreamTurn::new(&turn, http, Some(&mapping)).take(client);
    Box::pin(run).await.map_err(|error| match error {
        TurnError::Failed(error) => mapping.error(error).into(),
        cancelled @ TurnError::Cancelled(_) => cancelled,
    })
}
