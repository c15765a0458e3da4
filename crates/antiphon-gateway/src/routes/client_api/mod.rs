//! `POST /v1/chat/completions` and `POST /v1/messages`: the APIs of clients that resend their whole
//! history.
//!
//! A request becomes one of the Responses API and runs as a turn. The answer is written in the
//! client's API. A request for an upstream with the same API passes to it unchanged, unless it
//! continues a stored conversation or its history needs a repair.

mod answer;
mod error_form;

use std::sync::Arc;

use antiphon::dialect::ClientApi;
use antiphon::json::{Object, quote};
use antiphon::repair::check;
use axum::Extension;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use http::HeaderMap;

pub(super) use self::error_form::write_errors;
use super::passthrough::{self, InspectedBody};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::limits::TurnPermit;
use crate::request::{CreateRequest, parse_object, required_model};
use crate::turn;
use crate::upstream::Upstream;

/// The header that names the stored conversation which a request continues.
const CONVERSATION: &str = "antiphon-conversation";

/// `POST /v1/chat/completions`
pub(super) async fn complete_chat(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Extension(permit): Extension<TurnPermit>,
    request: Request,
) -> Response {
    serve(ClientApi::Chat, gateway, caller, permit, request).await
}

/// `POST /v1/messages`
pub(super) async fn create_message(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Extension(permit): Extension<TurnPermit>,
    request: Request,
) -> Response {
    serve(ClientApi::Anthropic, gateway, caller, permit, request).await
}

async fn serve(
    api: ClientApi,
    gateway: Arc<Gateway>,
    caller: Caller,
    permit: TurnPermit,
    request: Request,
) -> Response {
    answer(api, gateway, caller, permit, request)
        .await
        .unwrap_or_else(|error| error.into_response())
}

async fn answer(
    api: ClientApi,
    gateway: Arc<Gateway>,
    caller: Caller,
    permit: TurnPermit,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = InspectedBody::read(request, true, &gateway).await?;
    let json = body.whole().cloned().unwrap_or_default();
    let fields = parse_object(&json)?;
    let model = required_model(&fields)?;
    let conversation = conversation(&parts.headers, &fields);
    let upstream = gateway.upstream_for_model(&model)?;
    let decoded = api.decode_request(&fields, &upstream.origin(&model));
    if let (Upstream::Http(http), None) = (upstream, &conversation)
        && upstream.api() == api.upstream_api()
        && decoded.as_ref().map_or(true, |decoded| check(&decoded.items).is_empty())
    {
        return passthrough::forward_whole(&gateway, http, &parts, body, permit).await;
    }
    // A response outside a conversation is not stored, because its client never asks for it again.
    let body = match conversation {
        Some(id) => decoded?.to_body(&[("conversation", &quote(&id))]),
        None => decoded?.to_body(&[("store", "false")]),
    };
    let identity = gateway.digest_key.identify(&parts.headers, &json)?;
    let limits = &gateway.settings.limits;
    let create = CreateRequest::parse(&body, identity, limits)?.sent_by(&parts.headers);
    let answer = turn::answer(Arc::clone(&gateway), caller, create, permit).await?;
    Ok(answer::write(answer, api.writer(&fields)))
}

/// The stored conversation that the request continues: the header's, or that in the metadata.
fn conversation(headers: &HeaderMap, fields: &Object<'_>) -> Option<String> {
    let header = headers.get(CONVERSATION).and_then(|value| value.to_str().ok());
    header.map(str::to_owned).or_else(|| {
        let metadata = Object::parse_str(fields.present("metadata")?).ok()?;
        metadata.string("conversation").map(std::borrow::Cow::into_owned)
    })
}
