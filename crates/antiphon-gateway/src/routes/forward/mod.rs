//! Forwards requests about objects that an upstream owns. The request and the answer pass
//! unchanged, except for the id of a conversation that callers know by another id.
//!
//! This layer precedes the routes of conversations and responses. Requests about objects that
//! Antiphon owns continue to these routes. The layer also updates the ledgers: a conversation is
//! recorded before its creator gets the answer, and a change of items waits for the open turn
//! (`items.rs`). If several tenants share the upstream's account, each id in a request must belong
//! to the tenant (`owner/account.rs`).

mod asked;
mod bodies;
mod changes;
mod hint;
mod items;
mod learning;
mod passing;

use std::sync::Arc;

use antiphon_store::LedgerEntry;
use axum::extract::{FromRequest as _, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header;
use http::request::Parts;
use tracing::Instrument as _;

use self::asked::Asked;
pub(super) use self::bodies::by_body;
use self::changes::Change;
use self::hint::Hint;
use self::passing::Passing;
use super::extract::Body;
use crate::alias::Alias;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
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
    let Some(asked) = Asked::from_request(&mut request).await else {
        return next.run(request).await;
    };
    let hint = match hint::read(&gateway, &asked, request).await {
        Ok((with_body, hint)) => {
            request = with_body;
            hint
        }
        Err(error) => return error.into_response(),
    };
    match find_owner(&gateway, &caller, &asked, hint.as_ref()).await {
        Ok(Found::Here) => next.run(request).await,
        Ok(Found::Unbound) => {
            request.extensions_mut().insert(Unbound);
            next.run(request).await
        }
        Ok(Found::Upstream { http, ledger, alias }) => {
            let asked = alias.iter().fold(asked, Asked::known_as);
            let change = Change { asked, upstream: http.base().to_owned(), ledger, alias };
            let answer = answered(Arc::clone(&gateway), caller, change, request).await;
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
enum Found<'a> {
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
        alias: Option<Alias>,
    },
}

async fn find_owner<'a>(
    gateway: &'a Gateway,
    caller: &Caller,
    asked: &Asked,
    hint: Option<&Hint>,
) -> Result<Found<'a>, ApiError> {
    let Some(id) = asked.whose() else {
        return owner_of_new(gateway, caller, hint).await;
    };
    let Ownership { owner, ledger, known_as } = gateway.owners(caller).owner_of(id).await?;
    let Owner::Upstream(http) = owner else { return Ok(Found::Here) };
    if let Some(item) = asked.item().filter(|item| !may_be_id(item)) {
        return Err(ApiError::ItemNotFound { id: item.into() });
    }
    let alias = match asked.shown_response() {
        Some(id) => gateway.owners(caller).alias_in_response(http, id, ledger.as_ref()).await?,
        None => known_as.alias(),
    };
    Ok(Found::Upstream { http, ledger, alias })
}

/// The owner of a new conversation.
async fn owner_of_new<'a>(
    gateway: &'a Gateway,
    caller: &Caller,
    hint: Option<&Hint>,
) -> Result<Found<'a>, ApiError> {
    let owner = match hint {
        Some(hint) => {
            let upstream = hint.upstream(gateway)?;
            NewOwner::Known(gateway.owners(caller).owner_of_new_conversation_for(upstream).await)
        }
        None => gateway.owners(caller).owner_of_new_conversation().await,
    };
    Ok(match owner {
        NewOwner::FirstTurn => Found::Unbound,
        NewOwner::Known(Owner::Gateway) => Found::Here,
        NewOwner::Known(Owner::Upstream(http)) => {
            Found::Upstream { http, ledger: None, alias: None }
        }
    })
}

/// Forwards the request. A change runs to its end even if its caller disconnects, because the
/// ledger needs its outcome.
async fn answered(
    gateway: Arc<Gateway>,
    caller: Caller,
    change: Change,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = whole(&gateway, request).await?;
    let http = gateway.upstreams.by_base_url(&change.upstream);
    let http = http.expect("upstreams stay what they are");
    if !change.asked.is_change() {
        let passing = Passing::new(&gateway, http, &parts, body).known_as(change.alias);
        return passing.told_as_it_comes(None).await;
    }
    let turns = gateway.turns.clone();
    let making = async move { change.made(&gateway, &caller, &parts, body).await };
    let made = turns.spawn(making.in_current_span());
    made.await.unwrap_or(Err(ApiError::Panicked))
}

/// The request and its whole body, decoded.
async fn whole(
    gateway: &Arc<Gateway>,
    request: Request,
) -> Result<(Parts, bytes::Bytes), ApiError> {
    let (mut parts, body) = request.into_parts();
    let request = Request::from_parts(parts.clone(), body);
    let Body(body) = Body::from_request(request, gateway).await?;
    if parts.headers.remove(header::CONTENT_ENCODING).is_some() {
        parts.headers.remove(header::CONTENT_LENGTH);
    }
    Ok((parts, body))
}
