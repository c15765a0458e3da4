//! `/v1/responses`

use std::convert::Infallible;
use std::sync::Arc;

use antiphon::HeldItem;
use antiphon::json::{Object, quote};
use antiphon_store::{ListScope, ResponseId, ResponseRecord};
use axum::Extension;
use axum::body::Body as AxumBody;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::{HeaderMap, header};

use super::extract::{Body, Path};
use super::paging::ListQuery;
use super::{background, conversation_header, gate, json, json_in_chunks};
use crate::background::open_response_object;
use crate::caller::Caller;
use crate::chunks::Chunks;
use crate::context::{self, Context, Difference};
use crate::error::{ApiError, Hint};
use crate::gateway::Gateway;
use crate::item_json::{item_array, list_chunks};
use crate::limits::TurnPermit;
use crate::request::CreateRequest;
use crate::turn::{self, Answer, Head, OutgoingEvent, Preview, TokenCount, compact_history};

/// `POST /v1/responses`
pub(super) async fn create(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, ApiError> {
    let (permit, request) = gate::permit(&gateway, &caller, request).await?;
    let body = conversation_header::read_named(&gateway, request).await?;
    let read = read(&gateway, &caller, &headers, &body).await;
    let publish = |error: &ApiError| turn::publish_unreadable(&gateway, &caller, error);
    let (request, is_job) = read.inspect_err(publish)?;
    if is_job {
        return Box::pin(background::create(gateway, caller, request, body, permit)).await;
    }
    Ok(to_response(turn::answer(gateway, caller, request, permit).await?))
}

/// Parses the request, and decides whether it is a background response of the gateway. A provider
/// with its own state also has its own background responses.
async fn read(
    gateway: &Gateway,
    caller: &Caller,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<(CreateRequest, bool), ApiError> {
    let identity = gateway.digest_key.identify(headers, body)?;
    let request = CreateRequest::parse(body, identity, &gateway.settings.limits)?.sent_by(headers);
    let is_job = request.background
        && !Box::pin(turn::is_owned_by_upstream(gateway, caller, &request)).await?;
    Ok((request, is_job))
}

/// The answer in the requested form.
pub(super) fn to_response(answer: Answer) -> Response {
    match answer {
        Answer::Whole(Head(headers), response) => {
            (headers, json_in_chunks(response)).into_response()
        }
        Answer::Stream(Head(headers), events) => {
            (headers, sse(events.into_stream())).into_response()
        }
    }
}

/// An event stream. Each event is a chunk of the body, unless it is long: some clients parse each
/// chunk by itself.
pub(super) fn sse(events: impl Stream<Item = OutgoingEvent> + Send + 'static) -> Response {
    let frames = events.flat_map(|events| stream::iter(events.into_sse().into_frames()));
    let events = frames.map(Ok::<_, Infallible>);
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
    (headers, AxumBody::from_stream(events)).into_response()
}

/// `GET /v1/responses/{id}`
pub(super) async fn show(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(id): Path<String>,
    query: ListQuery,
) -> Result<Response, ApiError> {
    if query.stream {
        return background::resume_stream(gateway, caller, &id, query.starting_after).await;
    }
    show_response(&gateway, &caller, &id, query.encrypted).await
}

/// The response in its current state: recorded, or still running in the background.
pub(super) async fn show_response(
    gateway: &Gateway,
    caller: &Caller,
    text: &str,
    encrypted: bool,
) -> Result<Response, ApiError> {
    let unknown = || gateway.response_not_found(text);
    let id = ResponseId::parse(text).ok_or_else(unknown)?;
    let (store, tenant) = (&gateway.store, &caller.tenant);
    if let Some(record) = store.response(tenant, &id).await? {
        return show_record(gateway, caller, &record, encrypted).await;
    }
    if let Some(response) = open_response_object(gateway, tenant, &id).await? {
        return Ok(json(response));
    }
    // The response may have ended between the two lookups.
    let record = store.response(tenant, &id).await?.ok_or_else(unknown)?;
    show_record(gateway, caller, &record, encrypted).await
}

async fn show_record(
    gateway: &Gateway,
    caller: &Caller,
    record: &ResponseRecord,
    encrypted: bool,
) -> Result<Response, ApiError> {
    let id = &record.response.id;
    let output = gateway.store.output_items(&caller.tenant, id).await?;
    let response = Object::parse(&record.response.envelope)
        .map_err(|_| ApiError::ResponseNotFound { id: id.as_str().into(), hint: Hint::None })?;
    Ok(json_in_chunks(with_output(&response, &output, encrypted)))
}

/// The response object with these items as its output. The stored envelope has an empty output.
fn with_output(response: &Object<'_>, output: &[HeldItem], encrypted: bool) -> Chunks {
    let mut text = Chunks::default();
    for (position, (key, value)) in response.iter().enumerate() {
        let separator = if position == 0 { '{' } else { ',' };
        text.push(format!("{separator}{}:", quote(key)));
        match key {
            "output" => text.append(item_array(output, encrypted)),
            _ => text.push(value.to_owned()),
        }
    }
    text.push(Bytes::from_static(b"}"));
    text
}

/// `POST /v1/responses/compact`: it takes as long as a turn, so it needs the permit of a turn.
pub(super) async fn compact(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    headers: HeaderMap,
    Extension(_permit): Extension<TurnPermit>,
    Body(body): Body,
) -> Result<Response, ApiError> {
    let identity = gateway.digest_key.identify(&headers, &body)?;
    let request = CreateRequest::parse(&body, identity, &gateway.settings.limits)?;
    let (Head(headers), compacted) = compact_history(&gateway, &caller, &request).await?;
    Ok((headers, json(compacted)).into_response())
}

/// `POST /v1/responses/input_tokens`: counts the tokens of the model's input, including the stored
/// items of the conversation. Stores nothing.
///
/// The header `antiphon-tokens` names the source of the count: `upstream`, or `estimated` by the
/// gateway.
pub(super) async fn count_input_tokens(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    headers: HeaderMap,
    Body(body): Body,
) -> Result<Response, ApiError> {
    let identity = gateway.digest_key.identify(&headers, &body)?;
    let default_model = gateway.upstreams.local().map(|local| local.name);
    let request =
        CreateRequest::parse_counted(&body, identity, &gateway.settings.limits, default_model)?;
    let (tokens, source) = count_tokens_of(&gateway, &caller, &request).await?;
    let counted = format!(r#"{{"object":"response.input_tokens","input_tokens":{tokens}}}"#);
    Ok(([("antiphon-tokens", source)], json(counted)).into_response())
}

/// The tokens of the request, and the source of the count.
pub(super) async fn count_tokens_of(
    gateway: &Gateway,
    caller: &Caller,
    request: &CreateRequest,
) -> Result<(u64, &'static str), ApiError> {
    let preview = Preview::new(gateway, caller, request).await?;
    Ok(match preview.count_tokens(gateway, caller, request).await? {
        TokenCount::Upstream(tokens) => (tokens, "upstream"),
        TokenCount::Estimated(tokens) => (tokens, "estimated"),
    })
}

/// `DELETE /v1/responses/{id}`
pub(super) async fn delete(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(text): Path<String>,
) -> Result<Response, ApiError> {
    let unknown = || gateway.response_not_found(&text);
    let id = ResponseId::parse(&text).ok_or_else(unknown)?;
    background::end_before_deletion(&gateway, &caller, &id).await?;
    match gateway.store.delete_response(&caller.tenant, &id).await? {
        true => Ok(json(format!(r#"{{"id":"{id}","object":"response","deleted":true}}"#))),
        false => Err(unknown()),
    }
}

/// `GET /v1/responses/{id}/input_items`
pub(super) async fn input_items(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(text): Path<String>,
    query: ListQuery,
) -> Result<Response, ApiError> {
    let unknown = || gateway.response_not_found(&text);
    let id = ResponseId::parse(&text).ok_or_else(unknown)?;
    let (store, tenant) = (&gateway.store, &caller.tenant);
    let record = store.response(tenant, &id).await?.ok_or_else(unknown)?;
    // A retry has no input of its own if an earlier attempt stored it.
    let stored_by = turn::input_stored_by(&record.response.report);
    let stored_by = stored_by.filter(|_| record.input.is_empty());
    for holder in stored_by.into_iter().chain([id]) {
        let scope = ListScope::Input(holder);
        if let Some(listing) = store.list_items(tenant, &scope, &query.page).await? {
            return Ok(json_in_chunks(list_chunks(
                &listing.items,
                listing.has_more,
                query.encrypted,
            )));
        }
    }
    Err(unknown())
}

/// `GET /v1/responses/{id}/report`: the items that the turn omitted or repaired.
pub(super) async fn report(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let unknown = || gateway.response_not_found(&id);
    let record = gateway.owners(&caller).record_of(&id).await?.ok_or_else(unknown)?;
    let (store, tenant) = (&gateway.store, &caller.tenant);
    let record = store.response(tenant, &record).await?.ok_or_else(unknown)?;
    let report = turn::link_faults(&turn::public_report(&record.response.report));
    let runs = turn::resent_runs(&report);
    if runs.is_empty() {
        return Ok(json(report));
    }
    let items = store.transcript(tenant, record.cursor).await?;
    Ok(json(turn::name_resent_items(&report, &runs, &items)))
}

/// `GET /v1/responses/{id}/context`: the exact input of the model. With `previous`, also the
/// difference to the input of that response, or with `previous=true` of the one that it continues.
pub(super) async fn context(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(id): Path<String>,
    query: Result<Query<ContextQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(query) = query.map_err(|_| ApiError::UnreadableQuery)?;
    if let Some(refused) = context::find_refused(&gateway, &caller.tenant, &id) {
        return Ok(json(context::to_json(&refused, None)));
    }
    let context = load_context(&gateway, &caller, &id).await?;
    let previous = match query.previous.as_deref() {
        Some("true") => context.previous.clone(),
        other => other.map(str::to_owned),
    };
    let difference = match previous {
        Some(previous) => {
            let previous = load_context(&gateway, &caller, &previous).await?;
            Some(Difference::new(&previous, &context))
        }
        None => None,
    };
    Ok(json(context::to_json(&context, difference.as_ref())))
}

/// The query of a context.
#[derive(serde::Deserialize)]
pub(super) struct ContextQuery {
    /// The response to compare with, or `true` for the one that this one continues.
    previous: Option<String>,
}

/// The context of a response of this caller.
pub(super) async fn load_context(
    gateway: &Gateway,
    caller: &Caller,
    id: &str,
) -> Result<Context, ApiError> {
    let unknown = || gateway.response_not_found(id);
    let record = gateway.owners(caller).record_of(id).await?.ok_or_else(unknown)?;
    context::load(gateway, &caller.tenant, &record).await?.ok_or_else(unknown)
}

pub(super) async fn find(
    gateway: &Gateway,
    caller: &Caller,
    text: &str,
) -> Result<ResponseRecord, ApiError> {
    let unknown = || gateway.response_not_found(text);
    let id = ResponseId::parse(text).ok_or_else(unknown)?;
    gateway.store.response(&caller.tenant, &id).await?.ok_or_else(unknown)
}
