//! The control routes for tests in other languages.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use http::StatusCode;
use serde_json::Value;

use crate::log::Recorded;
use crate::world::Shared;

type Parameters = Query<HashMap<String, String>>;

/// Lists the logged requests; with `?token=X`, those with that token.
pub(super) async fn log(
    State(shared): State<Arc<Shared>>,
    Query(query): Parameters,
) -> Json<Value> {
    let token = query.get("token");
    let requests = shared.log.all();
    let of_token = requests.iter().filter(|it| token.is_none_or(|token| it.token == *token));
    Json(of_token.map(Recorded::as_log_entry).collect())
}

/// With `?token=X&at=PLACE`, stops the next streamed answer to a request with that token.
pub(super) async fn hold(
    State(shared): State<Arc<Shared>>,
    Query(query): Parameters,
) -> StatusCode {
    let place = query.get("at").and_then(|at| at.parse().ok());
    let Some((token, place)) = query.get("token").zip(place) else {
        return StatusCode::BAD_REQUEST;
    };
    shared.world().hold(token, place);
    StatusCode::NO_CONTENT
}

/// Answers when no turn is open, for example after a caller has disconnected.
pub(super) async fn wait_until_idle(State(shared): State<Arc<Shared>>) -> StatusCode {
    shared.wait_until_idle().await;
    StatusCode::NO_CONTENT
}

/// With `?outcome=part|whole|nothing`, sets the outcome of turns whose callers disconnect.
pub(super) async fn on_abort(
    State(shared): State<Arc<Shared>>,
    Query(query): Parameters,
) -> StatusCode {
    let Some(outcome) = query.get("outcome").and_then(|outcome| outcome.parse().ok()) else {
        return StatusCode::BAD_REQUEST;
    };
    shared.world().on_abort = outcome;
    StatusCode::NO_CONTENT
}

/// With `?response=ID`, deletes that response.
pub(super) async fn delete_response(
    State(shared): State<Arc<Shared>>,
    Query(query): Parameters,
) -> StatusCode {
    let Some(id) = query.get("response") else {
        return StatusCode::BAD_REQUEST;
    };
    match shared.world().delete_response(id) {
        true => StatusCode::NO_CONTENT,
        false => StatusCode::NOT_FOUND,
    }
}
