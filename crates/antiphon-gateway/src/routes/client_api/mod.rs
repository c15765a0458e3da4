//! `POST /v1/chat/completions`, `POST /v1/messages`, `POST /v1/messages/count_tokens` and
//! `POST /v1beta/models/{model}:generateContent`: the APIs of clients that resend their whole
//! history.
//!
//! A request becomes one of the Responses API and runs as a turn. The answer is written in the
//! client's API. A request for an upstream with the same API passes to it unchanged, unless it
//! continues a stored conversation or its history needs a repair. If it has tools, its answer loses
//! calls that the upstream announces twice.

mod answer;
mod error_form;
mod gemini;
mod gemini_errors;
mod gemini_models;
mod models;
mod prepared;

use std::sync::Arc;

use antiphon::dialect::{ClientApi, Writer};
use antiphon::json::Object;
use axum::Extension;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::HeaderMap;

pub(super) use self::error_form::write_errors;
pub(super) use self::gemini::{act_on_model, check_method};
pub(super) use self::gemini_models::{
    gemini_list, gemini_model, is_from_gemini_client, list_gemini, show_gemini,
};
pub(super) use self::models::{anthropic_list, anthropic_model, is_from_anthropics_client};
use self::prepared::{Prepared, Purpose};
use super::json;
use super::passthrough::{self, InspectedBody};
use super::responses::count_tokens_of;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::limits::TurnPermit;
use crate::request::parse_object;
use crate::turn::{self, Answer};

/// `POST /v1/chat/completions`
pub(super) async fn complete_chat(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Extension(permit): Extension<TurnPermit>,
    request: Request,
) -> Result<Response, ApiError> {
    answer(ClientApi::Chat, gateway, caller, permit, request).await
}

/// `POST /v1/messages`
pub(super) async fn create_message(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Extension(permit): Extension<TurnPermit>,
    request: Request,
) -> Result<Response, ApiError> {
    answer(ClientApi::Anthropic, gateway, caller, permit, request).await
}

/// `POST /v1/messages/count_tokens`: counts the tokens of the model's input, including the stored
/// items of the conversation. Stores nothing.
pub(super) async fn count_tokens(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Extension(permit): Extension<TurnPermit>,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = InspectedBody::read(request, true, &gateway).await?;
    let json_body = body.whole().cloned().unwrap_or_default();
    let fields = parse_object(&json_body)?;
    let prepared =
        Prepared::new(Purpose::Count(ClientApi::Anthropic), &gateway, &parts.headers, &fields)?;
    if let Some(upstream) = prepared.unchanged_for() {
        return passthrough::forward_whole(&gateway, upstream, &parts, body, permit).await;
    }
    let request = prepared.into_request(&gateway, &parts.headers, &json_body)?;
    let counted = count_tokens_of(&gateway, &caller, &request).await;
    let (tokens, source) =
        counted.map_err(|error| error.reworded(ClientApi::Anthropic, &fields))?;
    let counted = json(format!(r#"{{"input_tokens":{tokens}}}"#));
    Ok(([("antiphon-tokens", source)], counted).into_response())
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
    let prepared = Prepared::new(Purpose::Answer(api), &gateway, &parts.headers, &fields)?;
    if let Some(upstream) = prepared.unchanged_for() {
        return match prepared.repairs_calls(&fields) {
            true => {
                let request = (parts, body);
                passthrough::forward_with_tools(api, &gateway, upstream, request, permit).await
            }
            false => passthrough::forward_whole(&gateway, upstream, &parts, body, permit).await,
        };
    }
    let sent = Sent { headers: &parts.headers, fields: &fields, json: &json };
    run(&gateway, caller, permit, prepared, sent, answer::write).await
}

/// A request as its client sent it.
#[derive(Clone, Copy)]
struct Sent<'a> {
    headers: &'a HeaderMap,
    fields: &'a Object<'a>,
    /// The body, which identifies a retry.
    json: &'a Bytes,
}

/// Runs a turn for the request. `write` writes the answer.
async fn run(
    gateway: &Arc<Gateway>,
    caller: Caller,
    permit: TurnPermit,
    prepared: Prepared<'_>,
    sent: Sent<'_>,
    write: impl FnOnce(Answer, Writer) -> Response,
) -> Result<Response, ApiError> {
    let api = prepared.api();
    let writer = api.writer(sent.fields, prepared.origin().clone());
    let is_stored = prepared.continues_conversation();
    let create = prepared.into_request(gateway, sent.headers, sent.json);
    let publish = |error: &ApiError| turn::publish_unreadable(gateway, &caller, error);
    let create = create.inspect_err(publish)?;
    let answer = turn::answer(Arc::clone(gateway), caller, create, permit).await;
    let answer = answer.map_err(|error| error.reworded(api, sent.fields))?;
    let mut response = write(answer, writer);
    if !is_stored {
        // Nothing can be read by this id.
        response.headers_mut().remove("antiphon-response");
    }
    Ok(response)
}
