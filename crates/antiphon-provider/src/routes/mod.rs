//! What is served where.

mod asked;
mod control;
mod conversations;
mod dispatch;
mod items;
mod models;
mod responses;
mod turns;

use std::collections::HashMap;
use std::sync::Arc;

use antiphon_testkit::deliver;
use axum::Router;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use bytes::Bytes;
use http::{HeaderMap, Method, Uri};

use crate::answered::{Answered, Effect};
use crate::log::Recorded;
use crate::turn::Course;
use crate::world::Shared;
use asked::Asked;

/// The largest body that is read.
const LARGEST_BODY: usize = 64 * 1024 * 1024;

pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/log", get(control::log))
        .route("/hold", post(control::hold))
        .route("/on-abort", post(control::on_abort))
        .route("/lose", post(control::lose))
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
    let asked = Asked::read(&shared, method, &uri, query, &headers, body);
    let answered = dispatch::answer(&asked);
    shared.log.record(recorded(&asked, &uri, &answered));
    let course = match answered.effect {
        Effect::Nothing => Course::of_no_turn(&shared),
        Effect::EndsWhole(run) => Course::in_one_piece(&shared, run),
        Effect::EndsStreamed(run) => Course::streamed(&shared, run),
        Effect::EndsBackground { id, events } => {
            Course::in_background(&shared, asked.token.clone(), id, &events)
        }
    };
    deliver(answered.reply, answered.exchange, course).await
}

fn recorded(asked: &Asked<'_>, uri: &Uri, answered: &Answered) -> Recorded {
    Recorded {
        method: asked.method.clone(),
        path: asked.path.clone(),
        query: uri.query().map(str::to_owned),
        token: asked.token.clone(),
        body: serde_json::from_slice(&asked.body).unwrap_or_default(),
        size: asked.body.len(),
        status: answered.status,
        verdict: answered.verdict.clone(),
        given: answered.given.clone(),
    }
}
