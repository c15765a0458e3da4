//! Requests that name their conversation in the body: `/responses/compact` and
//! `/responses/input_tokens`.

use std::sync::Arc;

use antiphon::json::Object;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::{HeaderValue, header};

use super::super::extract::read_decoded;
use super::forwarded::{ForwardedAnswer, ForwardedRequest};
use super::stateless::{lacks_route, without_state};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::id_mapping::IdMapping;
use crate::owner::Owner;
use crate::request::{Continues, check_model, continues};
use crate::upstream::{HttpUpstream, Upstream};

/// The token count. Its answer has a header that names the source of the count.
const COUNTED: &str = "/responses/input_tokens";

/// Forwards requests that continue state of an upstream, or that name a model of an upstream that
/// owns state. If the upstream does not have the route, the gateway's own route answers.
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
    let (mut parts, body) = read_decoded(gateway, request).await?;
    let Some((http, mapping)) = find_owner(gateway, caller, &body).await? else {
        return Ok(next.run(Request::from_parts(parts, body.into())).await);
    };
    gateway.owners(caller).check_named(http, &body, "input").await?;
    parts.headers.remove(header::CONTENT_LENGTH);
    let body = mapping.as_ref().map_or_else(|| body.clone(), |mapping| translated(&body, mapping));
    let fields = Object::parse(&body).expect("its owner was found by its fields");
    let continues = continues(&fields)?;
    let origin = fields.string("model").map(|model| Upstream::Http(http).origin(&model));
    let is_count = parts.uri.path() == COUNTED;
    let without = match is_count {
        true => &gateway.upstreams.without_token_counts,
        false => &gateway.upstreams.without_compact_path,
    };
    if origin.as_ref().is_none_or(|origin| !without.contains(origin)) {
        let forwarded = ForwardedRequest::new(gateway, http, &parts, body.clone());
        let answer = forwarded.with_mapping(mapping).send_and_read().await?;
        if !lacks_route(&answer, &continues) {
            return Ok(with_source(answer, is_count));
        }
        if let Some(origin) = &origin {
            without.insert(origin);
        }
    }
    let body = without_state(body.clone(), &continues, http, caller).await?;
    Ok(next.run(Request::from_parts(parts, body.into())).await)
}

/// The upstream's answer. The answer of a token count names its source.
fn with_source(answer: ForwardedAnswer, is_count: bool) -> Response {
    let mut response = answer.into_response();
    if is_count && response.status().is_success() {
        response.headers_mut().insert("antiphon-tokens", HeaderValue::from_static("upstream"));
    }
    response
}

/// The upstream that owns the state which the body continues. `None` for an invalid body: the
/// gateway's own route rejects it.
async fn find_owner<'a>(
    gateway: &'a Gateway,
    caller: &Caller,
    body: &Bytes,
) -> Result<Option<(&'a HttpUpstream, Option<IdMapping>)>, ApiError> {
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
        Owner::Upstream(http) => Ok(Some((http, owned.known_as.mapping()))),
    }
}

/// The body, with the upstream's conversation id.
fn translated(body: &Bytes, mapping: &IdMapping) -> Bytes {
    let mut fields = Object::parse(body).expect("its owner was found by its fields");
    mapping.fields(&mut fields);
    fields.to_bytes()
}
