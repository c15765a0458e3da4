//! Requests that name their conversation in the body: `/responses/compact` and
//! `/responses/input_tokens`.

use std::sync::Arc;

use antiphon::json::Object;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::{HeaderValue, header};

use super::forwarded::ForwardedRequest;
use super::read_whole;
use crate::alias::Alias;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::limits::TurnPermit;
use crate::owner::Owner;
use crate::request::{Continues, check_model, continues};
use crate::upstream::{HttpUpstream, Upstream};

/// The token count. Its answer has a header that names the source of the count.
const COUNTED: &str = "/responses/input_tokens";

/// Forwards requests that continue state of an upstream, or that name a model of an upstream that
/// owns state.
pub(in super::super) async fn by_body(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    request: Request,
    next: Next,
) -> Response {
    if !gateway.upstreams.may_own_state() {
        return next.run(request).await;
    }
    forward(&gateway, &caller, request, next).await.unwrap_or_else(ApiError::into_response)
}

async fn forward(
    gateway: &Arc<Gateway>,
    caller: &Caller,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let permit = request.extensions().get::<TurnPermit>().cloned();
    let (mut parts, body) = read_whole(gateway, request).await?;
    let Some((http, alias)) = find_owner(gateway, caller, &body).await? else {
        return Ok(next.run(Request::from_parts(parts, body.into())).await);
    };
    gateway.owners(caller).check_named(http, &body, "input").await?;
    let body = match &alias {
        Some(alias) => {
            parts.headers.remove(header::CONTENT_LENGTH);
            translated(&body, alias)
        }
        None => body,
    };
    let forwarded = ForwardedRequest::new(gateway, http, &parts, body).with_alias(alias);
    let mut answer = forwarded.send_and_stream(permit).await?;
    if parts.uri.path() == COUNTED && answer.status().is_success() {
        answer.headers_mut().insert("antiphon-tokens", HeaderValue::from_static("upstream"));
    }
    Ok(answer)
}

/// The upstream that owns the state which the body continues. `None` for an invalid body: the
/// gateway's own route rejects it.
async fn find_owner<'a>(
    gateway: &'a Gateway,
    caller: &Caller,
    body: &Bytes,
) -> Result<Option<(&'a HttpUpstream, Option<Alias>)>, ApiError> {
    let Ok(fields) = Object::parse(body) else { return Ok(None) };
    let Ok(continues) = continues(&fields) else { return Ok(None) };
    let owners = gateway.owners(caller);
    let owned = match (fields.string("model"), &continues) {
        (Some(model), _) if check_model(&model).is_err() => return Ok(None),
        (Some(model), _) => match gateway.upstreams.for_model(&model) {
            Some(upstream) => owners.owner_of_turn(&continues, upstream).await?,
            None => return Ok(None),
        },
        (None, Continues::Nothing) => match gateway.upstreams.default_state_owner() {
            Some(http) => owners.owner_of_turn(&continues, Upstream::Http(http)).await?,
            None => return Ok(None),
        },
        (None, Continues::Conversation(id) | Continues::Response(id)) => {
            owners.owner_of(id).await?
        }
    };
    match owned.owner {
        Owner::Gateway => Ok(None),
        Owner::Upstream(http) => Ok(Some((http, owned.known_as.alias()))),
    }
}

/// The body, with the upstream's conversation id.
fn translated(body: &Bytes, alias: &Alias) -> Bytes {
    let mut fields = Object::parse(body).expect("its owner was found by its fields");
    alias.fields(&mut fields);
    fields.to_bytes()
}
