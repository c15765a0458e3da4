//! Background responses on `/v1/responses`.

use std::sync::Arc;

use antiphon::json::{Object, quote};
use antiphon_store::{ResponseId, ResponseRecord};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use tracing::{Instrument as _, Span};

use super::extract::Path;
use super::json;
use super::responses::{find, show_response, sse, to_response};
use crate::background::{LogReader, cancel_and_wait};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::limits::TurnPermit;
use crate::request::CreateRequest;
use crate::turn::{self, Accepted, Head};

/// `POST /v1/responses` with `background`: returns the queued response at once, or streams its
/// events.
pub(super) async fn create(
    gateway: Arc<Gateway>,
    caller: Caller,
    request: CreateRequest,
    body: Bytes,
    permit: TurnPermit,
) -> Result<Response, ApiError> {
    let streams = request.stream;
    let accepted =
        turn::accept(Arc::clone(&gateway), caller.clone(), request, body, permit).await?;
    match accepted {
        Accepted::Replayed(answer) => Ok(to_response(answer)),
        Accepted::New(Head(headers), new) if streams => {
            Ok((headers, stream_log(gateway, caller, new.id, 0).await?).into_response())
        }
        Accepted::New(Head(headers), new) => Ok((headers, json(new.object)).into_response()),
        Accepted::Open(Head(headers), id) if streams => {
            Ok((headers, stream_log(gateway, caller, id, 0).await?).into_response())
        }
        Accepted::Open(Head(headers), id) => {
            let response = show_response(&gateway, &caller, id.as_str(), false).await?;
            Ok((headers, response).into_response())
        }
    }
}

/// `GET /v1/responses/{id}?stream=true&starting_after=N`: streams all events after number N,
/// including future ones.
pub(super) async fn resume_stream(
    gateway: Arc<Gateway>,
    caller: Caller,
    text: &str,
    starting_after: Option<u64>,
) -> Result<Response, ApiError> {
    let id = ResponseId::parse(text).ok_or_else(|| gateway.response_not_found(text))?;
    let from = starting_after.map_or(0, |last| last.saturating_add(1));
    stream_log(gateway, caller, id, from).await
}

async fn stream_log(
    gateway: Arc<Gateway>,
    caller: Caller,
    id: ResponseId,
    from: u64,
) -> Result<Response, ApiError> {
    let (tenant, span) = (caller.tenant.clone(), Span::current());
    match LogReader::open(Arc::clone(&gateway), tenant, id.clone(), from).await? {
        Some(reader) => Ok(sse(stream::unfold(reader, move |mut reader| {
            let next = async { Some((reader.next().await?, reader)) };
            next.instrument(span.clone())
        }))),
        None => Err(not_streamed(&find(&gateway, &caller, id.as_str()).await?)),
    }
}

/// The error for a response that cannot be streamed.
fn not_streamed(record: &ResponseRecord) -> ApiError {
    match is_background(record) {
        true => ApiError::StreamExpired,
        false => ApiError::NotStreamable,
    }
}

/// `POST /v1/responses/{id}/cancel`: returns the response. One that has already ended is unchanged.
pub(super) async fn cancel(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(text): Path<String>,
) -> Result<Response, ApiError> {
    let id = ResponseId::parse(&text).ok_or_else(|| gateway.response_not_found(&text))?;
    if cancel_and_wait(&gateway, &caller.tenant, &id).await?.is_none()
        && !is_background(&find(&gateway, &caller, &text).await?)
    {
        return Err(ApiError::CannotCancelSynchronous);
    }
    show_response(&gateway, &caller, &text, false).await
}

/// `POST /v1/responses/{id}/end`: ends an open turn, in the background or not. One that has already
/// ended is unchanged.
pub(super) async fn end(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(text): Path<String>,
) -> Result<Response, ApiError> {
    let tenant = &caller.tenant;
    let found = gateway.owners(&caller).record_of(&text).await?;
    let id = found.ok_or_else(|| gateway.response_not_found(&text))?;
    let ended = if cancel_and_wait(&gateway, tenant, &id).await?.is_some() {
        true
    } else if gateway.open_turns.end(tenant, &id) {
        gateway.leases.wait_for_response_here(tenant, &id).await;
        true
    } else if gateway.store.is_open(tenant, &id).await? {
        return Err(ApiError::RunsElsewhere);
    } else {
        find(&gateway, &caller, id.as_str()).await?;
        false
    };
    let id = quote(&text);
    Ok(json(format!(r#"{{"id":{id},"object":"response.end","ended":{ended}}}"#)))
}

/// Cancels an open response and waits for its end, before its deletion.
pub(super) async fn end_before_deletion(
    gateway: &Gateway,
    caller: &Caller,
    id: &ResponseId,
) -> Result<(), ApiError> {
    match cancel_and_wait(gateway, &caller.tenant, id).await? {
        Some(false) => Err(ApiError::StillEnding),
        Some(true) | None => Ok(()),
    }
}

fn is_background(record: &ResponseRecord) -> bool {
    let envelope = Object::parse(&record.response.envelope);
    envelope.is_ok_and(|envelope| envelope.present("background") == Some("true"))
}
