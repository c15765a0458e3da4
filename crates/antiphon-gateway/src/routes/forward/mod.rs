//! Forwards requests about objects that an upstream owns. The request and the answer pass
//! unchanged, except for the id of a conversation that callers know by another id, and for added
//! items that lack an id (`added_items.rs`).
//!
//! This layer precedes the routes of conversations and responses. Requests about objects that
//! Antiphon owns continue to these routes. The layer also updates the ledgers: a conversation is
//! recorded before its creator gets the answer, and a change of items waits for the open turn
//! (`items.rs`). If several tenants share the upstream's account, each id in a request must belong
//! to the tenant (`owner/account.rs`).

mod added_items;
mod bodies;
mod change;
mod forwarded;
mod hint;
mod items;
mod ledger_sync;
mod operation;
mod stateless;

use std::sync::Arc;

use antiphon_store::LedgerEntry;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tracing::Instrument as _;

pub(super) use self::bodies::by_body;
use self::change::Change;
use self::forwarded::ForwardedRequest;
use self::hint::OwnerHint;
use self::operation::Operation;
use super::extract::read_decoded;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::id_mapping::IdMapping;
use crate::owner::{NewOwner, Owner, Ownership, may_be_id};
use crate::request_body::discard;
use crate::upstream::HttpUpstream;

/// Forwards requests about objects that an upstream owns, by the id in the path.
pub(super) async fn by_path(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    mut request: Request,
    next: Next,
) -> Response {
    if !gateway.upstreams.may_own_state() {
        return next.run(request).await;
    }
    let Some(operation) = Operation::from_request(&mut request).await else {
        return next.run(request).await;
    };
    let hint = match hint::read(&gateway, &operation, request).await {
        Ok((with_body, hint)) => {
            request = with_body;
            hint
        }
        Err(error) => return error.into_response(),
    };
    match find_owner(&gateway, &caller, &operation, hint.as_ref()).await {
        Ok(FoundOwner::Here) => next.run(request).await,
        Ok(FoundOwner::Unbound) => {
            request.extensions_mut().insert(Unbound);
            next.run(request).await
        }
        Ok(FoundOwner::Upstream { http, ledger, mapping }) => {
            let operation = mapping.iter().fold(operation, Operation::with_mapping);
            let change = Change { operation, upstream: http.base().to_owned(), ledger, mapping };
            let answer = forward(Arc::clone(&gateway), caller, change, request).await;
            answer.unwrap_or_else(ApiError::into_response)
        }
        Err(error) => {
            discard(request, &gateway.settings.limits).await;
            error.into_response()
        }
    }
}

/// Marks a request for a conversation whose first turn decides the owner.
#[derive(Clone, Copy)]
pub(super) struct Unbound;

/// The owner of the object that a request is about.
enum FoundOwner<'a> {
    /// Antiphon.
    Here,
    /// Antiphon, until the first turn decides.
    Unbound,
    /// This upstream.
    Upstream {
        http: &'a HttpUpstream,
        /// Its ledger entry, if there is one.
        ledger: Option<LedgerEntry>,
        /// Both ids of the conversation, if callers know it by another id than the upstream.
        mapping: Option<IdMapping>,
    },
}

async fn find_owner<'a>(
    gateway: &'a Gateway,
    caller: &Caller,
    operation: &Operation,
    hint: Option<&OwnerHint>,
) -> Result<FoundOwner<'a>, ApiError> {
    let Some(id) = operation.id() else {
        return find_new_owner(gateway, caller, hint).await;
    };
    let Ownership { owner, ledger, known_as } = gateway.owners(caller).owner_of(id).await?;
    let Owner::Upstream(http) = owner else { return Ok(FoundOwner::Here) };
    if let Some(item) = operation.item().filter(|item| !may_be_id(item)) {
        return Err(ApiError::ItemNotFound { id: item.into() });
    }
    let mapping = match operation.shown_response() {
        Some(id) => gateway.owners(caller).mapping_of_response(http, id, ledger.as_ref()).await?,
        None => known_as.mapping(),
    };
    Ok(FoundOwner::Upstream { http, ledger, mapping })
}

/// The owner of a new conversation.
async fn find_new_owner<'a>(
    gateway: &'a Gateway,
    caller: &Caller,
    hint: Option<&OwnerHint>,
) -> Result<FoundOwner<'a>, ApiError> {
    let owner = match hint {
        Some(hint) => {
            let upstream = hint.upstream(gateway)?;
            NewOwner::Known(gateway.owners(caller).owner_of_new_conversation_for(upstream).await)
        }
        None => gateway.owners(caller).owner_of_new_conversation().await,
    };
    Ok(match owner {
        NewOwner::FirstTurn => FoundOwner::Unbound,
        NewOwner::Known(Owner::Gateway) => FoundOwner::Here,
        NewOwner::Known(Owner::Upstream(http)) => {
            FoundOwner::Upstream { http, ledger: None, mapping: None }
        }
    })
}

/// Forwards the request. A change runs to its end even if its caller disconnects, because the
/// ledger needs its outcome.
async fn forward(
    gateway: Arc<Gateway>,
    caller: Caller,
    change: Change,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = read_decoded(&gateway, request).await?;
    let http = gateway.upstreams.by_base_url(&change.upstream);
    let http = http.expect("the list of upstreams never changes");
    if !change.operation.is_change() {
        let forwarded =
            ForwardedRequest::new(&gateway, http, &parts, body).with_mapping(change.mapping);
        return forwarded.send_and_stream(None).await;
    }
    let turns = gateway.turns.clone();
    let applying = async move { change.apply(&gateway, &caller, &parts, body).await };
    let applied = turns.spawn(applying.in_current_span());
    applied.await.unwrap_or(Err(ApiError::Panicked))
}
