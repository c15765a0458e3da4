//! The routes of the fake provider.

use std::collections::HashMap;
use std::sync::Arc;

use antiphon_mock::judge::{self, anthropic, chat};
use antiphon_mock::{Api, Hold, Refusal, Reply, default_model, deliver};
use axum::extract::{DefaultBodyLimit, Query, State as Shared};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, Uri};
use serde_json::{Value, json};

use super::record::Recorded;
use super::{Scripted, State};
use crate::otlp;

pub(super) fn router(state: Arc<State>) -> Router {
    let traces = otlp::router(Arc::clone(&state.traces));
    Router::new()
        .route("/v1/models", get(models))
        .route("/otlp/report", get(report))
        .nest_service("/otlp", traces)
        .route("/log", get(log))
        .route("/hold", post(hold))
        .fallback(any)
        .layer(DefaultBodyLimit::disable())
        .with_state(state)
}

async fn models() -> Json<Value> {
    let model = |id| json!({"id": id, "object": "model", "created": 0, "owned_by": "testkit"});
    Json(json!({"object": "list", "data": [model("fake-model"), model("plain-model")]}))
}

/// Lists the requests so far; with `?token=X`, those with that bearer token or key.
async fn log(
    Shared(state): Shared<Arc<State>>,
    Query(query): Query<HashMap<String, String>>,
) -> Json<Value> {
    let token = query.get("token");
    let requests = state.log.all();
    let of_token = requests.iter().filter(|it| token.is_none_or(|token| it.has_token(token)));
    Json(of_token.map(Recorded::as_log_entry).collect())
}

/// The report on the traces and metrics that were exported to `/otlp`.
async fn report(Shared(state): Shared<Arc<State>>) -> Json<Value> {
    Json(otlp::report(&state.traces.spans(), &state.traces.metrics()))
}

/// With `?token=X&at=PLACE`, stops the next answer to a request with that token at a [`Hold`].
async fn hold(
    Shared(state): Shared<Arc<State>>,
    Query(query): Query<HashMap<String, String>>,
) -> StatusCode {
    let place = query.get("at").and_then(|at| at.parse().ok());
    match query.get("token").zip(place) {
        Some((token, place)) => {
            state.hold(token, place);
            StatusCode::NO_CONTENT
        }
        None => StatusCode::BAD_REQUEST,
    }
}

/// Answers a request of an API, or takes the next scripted reply. Requests to unknown paths are
/// recorded and take scripted replies too, so that tests can imitate other providers.
async fn any(
    Shared(state): Shared<Arc<State>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    raw: Bytes,
) -> Response {
    let request = read(method, &uri, headers, raw);
    match state.record_and_take_reply(request.clone()) {
        Some(Scripted { reply, exchange }) => deliver(reply, exchange, ()).await,
        None => unscripted(answer(&request, state.take_hold(&request))).await,
    }
}

async fn unscripted(reply: Reply) -> Response {
    let exchange = reply.exchange();
    deliver(reply, exchange, ()).await
}

fn read(method: Method, uri: &Uri, headers: HeaderMap, raw: Bytes) -> Recorded {
    let parsed = serde_json::from_slice::<Value>(&raw).ok();
    let api = Api::at(uri.path()).filter(|_| method == Method::POST);
    let verdict = api.map_or(Ok(()), |api| verdict(api, &headers, parsed.as_ref()));
    let (path, query) = (uri.path().to_owned(), uri.query().map(str::to_owned));
    Recorded { method, path, query, headers, raw, body: parsed.unwrap_or_default(), verdict }
}

fn verdict(api: Api, headers: &HeaderMap, body: Option<&Value>) -> Result<(), Refusal> {
    match (api, body) {
        (Api::Responses, Some(body)) => judge::validate(body),
        (Api::Responses, None) => Err(Refusal::invalid_json()),
        (Api::Chat, Some(body)) => chat::validate(body),
        (Api::Chat, None) => Err(Refusal::invalid_json().for_chat()),
        (Api::Anthropic, Some(body)) => anthropic::validate(headers, body),
        (Api::Anthropic, None) => Err(Refusal::body_not_json()),
    }
}

fn answer(request: &Recorded, hold: Option<Hold>) -> Reply {
    let Some(api) = request.api() else {
        return Reply::refusal(&Refusal::unknown_url(&request.method, &request.path));
    };
    if let Err(refusal) = &request.verdict {
        return Reply::refusal(refusal);
    }
    let answer = default_model::answer(&default_model::normalize(api, &request.body));
    match (request.body["stream"] == true, hold) {
        (true, Some(hold)) => hold.stream(answer.frames_for(api)),
        (true, None) => Reply::sse(answer.frames_for(api)),
        (false, hold) => {
            let reply = Reply::json(StatusCode::OK, &answer.json_for(api));
            match hold {
                Some(hold) => hold.whole(&answer.frames_for(api), reply),
                None => reply,
            }
        }
    }
}
