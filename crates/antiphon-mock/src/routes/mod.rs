//! The routes.

mod compact;
mod control;
mod conversations;
mod dispatch;
mod items;
mod models;
mod responses;
mod route_request;
mod turns;

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use bytes::Bytes;
use http::{HeaderMap, Method, Uri};

use crate::deliver;
use crate::log::Recorded;
use crate::route_reply::{Effect, RouteReply};
use crate::turn_delivery::TurnDelivery;
use crate::world::Shared;
use route_request::RouteRequest;

/// The maximum body size in bytes.
const LARGEST_BODY: usize = 64 * 1024 * 1024;

pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/log", get(control::log))
        .route("/hold", post(control::hold))
        .route("/idle", post(control::wait_until_idle))
        .route("/on-abort", post(control::on_abort))
        .route("/lose", post(control::delete_response))
        .fallback(any)
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .with_state(shared)
}

async fn any(
    State(shared): State<Arc<Shared>>,
    Query(query): Query<HashMap<String, String>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let request = RouteRequest::read(&shared, method, &uri, query, &headers, body);
    let answered = dispatch::answer(&request);
    shared.log.record(log_entry(&request, &uri, &answered));
    let course = match answered.effect {
        Effect::Nothing => TurnDelivery::without_turn(&shared),
        Effect::EndsTurn(run) => TurnDelivery::json(&shared, run),
        Effect::EndsStreamedTurn(run) => TurnDelivery::streamed(&shared, run),
        Effect::EndsBackgroundTurn { id, events } => {
            TurnDelivery::in_background(&shared, request.token.clone(), id, &events)
        }
    };
    deliver(answered.reply, answered.exchange, course).await
}

fn log_entry(request: &RouteRequest<'_>, uri: &Uri, answered: &RouteReply) -> Recorded {
    Recorded {
        method: request.method.clone(),
        path: request.path.clone(),
        query: uri.query().map(str::to_owned),
        token: request.token.clone(),
        body: serde_json::from_slice(&request.body).unwrap_or_default(),
        size: request.body.len(),
        status: answered.status,
        verdict: answered.verdict.clone(),
        model_input: answered.model_input.clone(),
    }
}
