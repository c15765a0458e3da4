//! Requests for what an upstream keeps: they pass to it as they came, and what it answers is told as it
//! came.
//!
//! Stands before the routes of conversations and responses, and lets through what Antiphon keeps. Ledgers
//! learn from what passes: a conversation is known before its maker is told of it, and what changes its
//! items waits for its open turn (`items.rs`). Where several tenants share the upstream's account, what
//! a request names has to be the tenant's own (`owner/account.rs`).

mod asked;
mod bodies;
mod changes;
mod hint;
mod items;
mod learning;
mod passing;

use std::sync::Arc;

use axum::extract::{FromRequest as _, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::request::Parts;
use http::{StatusCode, header};
use tracing::Instrument as _;

use self::asked::Asked;
pub(super) use self::bodies::by_body;
use self::changes::Change;
use self::hint::Hint;
use self::passing::Passing;
use super::extract::{Body, pass_over};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::owner::{Owned, Owner, may_be_id};

/// Answers for what an upstream keeps, by the id in the path.
pub(super) async fn by_path(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    mut request: Request,
    next: Next,
) -> Response {
    if !gateway.upstreams.keep_state() {
        return next.run(request).await;
    }
    let Some(asked) = Asked::of(&mut request).await else { return next.run(request).await };
    let hint = match hint::read(&gateway, &asked, request).await {
        Ok((with_body, hint)) => {
            request = with_body;
            hint
        }
        Err(error) => return error.into_response(),
    };
    match owned(&gateway, &caller, &asked, hint.as_ref()).await {
        Ok(Owned { owner: Owner::Here, .. }) => next.run(request).await,
        Ok(Owned { owner: Owner::Upstream(http), ledger }) => {
            let change = Change { asked, upstream: http.base().to_owned(), ledger };
            let answer = answered(Arc::clone(&gateway), caller, change, request).await;
            answer.unwrap_or_else(ApiError::into_response)
        }
        Err(error) => {
            pass_over(request, &gateway.settings.limits).await;
            error.into_response()
        }
    }
}

/// Who keeps what the request is about.
async fn owned<'a>(
    gateway: &'a Gateway,
    caller: &Caller,
    asked: &Asked,
    hint: Option<&Hint>,
) -> Result<Owned<'a>, ApiError> {
    let Some(id) = asked.whose() else {
        let owner = match hint {
            Some(hint) => {
                let upstream = hint.upstream(gateway)?;
                gateway.owner_of_new_conversation_for(caller, upstream).await
            }
            None => gateway.owner_of_new_conversation(caller).await,
        };
        return Ok(Owned { owner, ledger: None });
    };
    let owned = gateway.owned(caller, id, gateway.upstreams.keeping()).await?;
    match (asked.item(), owned.owner) {
        (Some(item), Owner::Upstream(_)) if !may_be_id(item) => Err(ApiError::item_not_found(item)),
        _ => Ok(owned),
    }
}

/// What changes something is seen through to its end, whether or not its caller stays: what came of it
/// has to be known.
async fn answered(
    gateway: Arc<Gateway>,
    caller: Caller,
    change: Change,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = whole(&gateway, request).await?;
    let http = gateway.upstreams.at(&change.upstream);
    let http = http.expect("upstreams stay what they are");
    if !change.asked.is_change() {
        return Passing::new(&gateway, http, &parts, body).told_as_it_comes(None).await;
    }
    let turns = gateway.turns.clone();
    let making = async move { change.made(&gateway, &caller, &parts, body).await };
    let made = turns.spawn(making.in_current_span());
    made.await.unwrap_or_else(|_| {
        let message = "The request broke inside the gateway.";
        Err(ApiError::server(StatusCode::INTERNAL_SERVER_ERROR, message))
    })
}

/// The request, with all of its body, decoded.
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
