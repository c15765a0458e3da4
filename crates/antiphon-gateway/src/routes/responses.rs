//! `/v1/responses`

use std::convert::Infallible;
use std::sync::Arc;

use antiphon::json::Object;
use antiphon_store::{ResponseId, ResponseRecord, Scope};
use axum::Extension;
use axum::body::Body as AxumBody;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::{HeaderMap, header};

use super::extract::{Body, Path};
use super::json;
use super::paging::ListQuery;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::limits::TurnPermit;
use crate::present::{list, present};
use crate::request::CreateRequest;
use crate::turn::{self, Answer, EventReceiver, Head};

/// `POST /v1/responses`
pub(super) async fn create(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    headers: HeaderMap,
    Extension(permit): Extension<TurnPermit>,
    Body(body): Body,
) -> Result<Response, ApiError> {
    let identity = gateway.digest_key.identify(&headers, &body)?;
    let request = CreateRequest::parse(&body, identity, &gateway.settings.limits)?;
    Ok(match turn::answer(gateway, caller, request, permit).await? {
        Answer::Whole(Head(headers), response) => (headers, json(response)).into_response(),
        Answer::Stream(Head(headers), events) => (headers, event_stream(events)).into_response(),
    })
}

/// One event a write: some clients parse what each read gives them.
fn event_stream(events: EventReceiver) -> Response {
    let events = stream::unfold(events, async |mut events| {
        let told = events.recv().await?;
        Some((Ok::<_, Infallible>(told.to_sse()), events))
    });
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
    let record = find(&gateway, &caller, &id).await?;
    if query.stream {
        return Err(ApiError::invalid("Only background responses can be streamed again.")
            .code("unsupported_parameter")
            .param("stream"));
    }
    let store = &gateway.store;
    let output = store.output_items(&caller.tenant, &record.response.id).await?;
    let output: Vec<String> = output.iter().map(|item| present(item, query.encrypted)).collect();
    let mut response =
        Object::parse(&record.response.envelope).map_err(|_| ApiError::response_not_found(&id))?;
    response.set("output", format!("[{}]", output.join(",")));
    Ok(json(response.to_text()))
}

/// `DELETE /v1/responses/{id}`
pub(super) async fn delete(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(text): Path<String>,
) -> Result<Response, ApiError> {
    let unknown = || ApiError::response_not_found(&text);
    let id = ResponseId::parse(&text).ok_or_else(unknown)?;
    match gateway.store.delete_response(&caller.tenant, &id).await? {
        true => Ok(json(format!(r#"{{"id":"{id}","object":"response","deleted":true}}"#))),
        false => Err(unknown()),
    }
}

/// `POST /v1/responses/{id}/cancel`: there are no background responses to cancel.
pub(super) async fn cancel(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    find(&gateway, &caller, &id).await?;
    Err(ApiError::invalid("Cannot cancel a synchronous response."))
}

/// `GET /v1/responses/{id}/input_items`
pub(super) async fn input_items(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(text): Path<String>,
    query: ListQuery,
) -> Result<Response, ApiError> {
    let unknown = || ApiError::response_not_found(&text);
    let scope = Scope::Input(ResponseId::parse(&text).ok_or_else(unknown)?);
    let listing = gateway.store.list_items(&caller.tenant, &scope, &query.page).await?;
    let listing = listing.ok_or_else(unknown)?;
    Ok(json(list(&listing.items, listing.has_more, query.encrypted)))
}

/// `GET /v1/responses/{id}/report`: what the turn left out and mended.
pub(super) async fn report(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    Ok(json(find(&gateway, &caller, &id).await?.response.report))
}

async fn find(gateway: &Gateway, caller: &Caller, text: &str) -> Result<ResponseRecord, ApiError> {
    let unknown = || ApiError::response_not_found(text);
    let id = ResponseId::parse(text).ok_or_else(unknown)?;
    gateway.store.response(&caller.tenant, &id).await?.ok_or_else(unknown)
}
