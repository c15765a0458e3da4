//! Answers the inspector's routes with JSON, and with the stream of changes.

use antiphon_store::Tenant;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream;
use http::header;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::query::LaneName;
use crate::changes::{Change, ChangeStream};
use crate::error::{ApiError, Hint};
use crate::gateway::Gateway;

type Answer = Result<Response, ApiError>;

/// `GET /inspect/conversations.json`
pub(crate) async fn conversations(gateway: &Gateway, tenant: &Tenant, query: &str) -> Answer {
    let page = super::conversations(gateway, tenant, &parse(query)).await?;
    Ok(json(&page))
}

/// `GET /inspect/conversations/{id}.json`
pub(crate) async fn conversation(
    gateway: &Gateway,
    tenant: &Tenant,
    id: &str,
    query: &str,
) -> Answer {
    let view = super::conversation(gateway, tenant, id, &parse(query)).await?;
    let missing = || ApiError::ConversationNotFound { id: id.to_owned(), hint: Hint::None };
    Ok(json(&view.ok_or_else(missing)?))
}

/// `GET /inspect/refused.json`
pub(crate) fn refused_turns(gateway: &Gateway, tenant: &Tenant) -> Response {
    json(&super::refused_turns(gateway, tenant))
}

/// `GET /inspect/turns/{id}.json`
pub(crate) async fn turn(gateway: &Gateway, tenant: &Tenant, id: &str) -> Answer {
    let view = super::turn(gateway, tenant, id).await?;
    Ok(json(&view.ok_or_else(|| missing_turn(id))?))
}

/// `GET /inspect/turns/{id}/lanes/{lane}.json`
pub(crate) async fn lane(
    gateway: &Gateway,
    tenant: &Tenant,
    id: &str,
    name: &str,
    query: &str,
) -> Answer {
    let name: LaneName = name.parse().map_err(|()| missing_turn(id))?;
    let page = super::lane(gateway, tenant, id, name, &parse(query)).await?;
    Ok(json(&page.ok_or_else(|| missing_turn(id))?))
}

/// `GET /inspect/events`: the changes of the tenant's conversations, until the gateway stops.
pub(crate) fn events(gateway: &Gateway, tenant: &Tenant) -> Response {
    let stopping = gateway.stopping.clone();
    let changes = gateway.changes.listen(tenant);
    // The first event shows the client that it hears all later changes.
    let first = Some(Bytes::from_static(b": listening\n\n"));
    let events =
        stream::unfold((changes, stopping, first), |(mut changes, stopping, first)| async {
            let event = match first {
                Some(first) => Some(first),
                None => next_event(&mut changes, &stopping).await,
            };
            event.map(|event| (Ok::<_, std::convert::Infallible>(event), (changes, stopping, None)))
        });
    (
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")],
        Body::from_stream(events),
    )
        .into_response()
}

async fn next_event(
    changes: &mut ChangeStream,
    stopping: &tokio_util::sync::CancellationToken,
) -> Option<Bytes> {
    tokio::select! {
        change = changes.next() => change.map(|change| event(&change)),
        () = stopping.cancelled() => None,
    }
}

fn event(change: &Change) -> Bytes {
    let data = serde_json::to_string(change).expect("a change is plain data");
    Bytes::from(format!("event: change\ndata: {data}\n\n"))
}

fn missing_turn(id: &str) -> ApiError {
    ApiError::ResponseNotFound { id: id.to_owned(), hint: Hint::None }
}

/// Reads the parameters of a list. A query of another form counts as empty.
fn parse<T: DeserializeOwned + Default>(query: &str) -> T {
    let uri = http::Uri::builder().path_and_query(format!("/?{query}")).build().ok();
    let read = uri.and_then(|uri| axum::extract::Query::<T>::try_from_uri(&uri).ok());
    read.map(|query| query.0).unwrap_or_default()
}

fn json(value: &impl Serialize) -> Response {
    let text = serde_json::to_string(value).expect("the values are plain data");
    let head = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (head, text).into_response()
}
