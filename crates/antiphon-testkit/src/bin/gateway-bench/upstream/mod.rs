//! The model server of the benchmark, a process of its own. It renders its answers in advance,
//! follows a script, and judges the input that it gets.

mod answer;
mod judge;
mod script;
mod stream;

use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use antiphon_mock::serve;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

use self::answer::Answer;
pub(crate) use self::judge::Verdict;
pub(crate) use self::script::Script;
use crate::marker::Marker;

/// The first line of the process, before its address.
pub(crate) const READY: &str = "upstream of the benchmark listening on ";

struct Shared {
    script: watch::Sender<Arc<Rendered>>,
    verdict: Mutex<Verdict>,
    /// The number of the last answer.
    number: AtomicU64,
}

/// A script and its answers.
struct Rendered {
    script: Script,
    text: Answer,
    call: Answer,
    completion: Answer,
    message: Answer,
}

impl Rendered {
    fn new(script: Script) -> Self {
        let deltas = script.deltas;
        Self {
            text: Answer::text(deltas),
            call: Answer::call(deltas),
            completion: Answer::completion(deltas),
            message: Answer::message(deltas),
            script,
        }
    }
}

/// Serves on a free port of the loopback until the process ends. Prints its address.
pub(crate) async fn run() -> anyhow::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("{READY}{}", listener.local_addr()?);
    std::io::stdout().flush()?;
    let shared = Arc::new(Shared {
        script: watch::Sender::new(Arc::new(Rendered::new(Script::deltas(1)))),
        verdict: Mutex::default(),
        number: AtomicU64::new(0),
    });
    let router = Router::new()
        .route("/v1/responses", post(respond))
        .route("/v1/chat/completions", post(complete))
        .route("/v1/messages", post(create_message))
        .route("/v1/models", get(models))
        .route("/health", get(async || Json(json!({"status": "ok"}))))
        .route("/script", post(follow))
        .route("/verdict", post(take_verdict))
        .layer(DefaultBodyLimit::disable())
        .with_state(shared);
    serve(listener, router).await;
    Ok(())
}

async fn models() -> Json<Value> {
    let model = json!({"id": "bench-model", "object": "model", "created": 0, "owned_by": "bench"});
    Json(json!({"object": "list", "data": [model]}))
}

async fn follow(State(shared): State<Arc<Shared>>, Json(script): Json<Script>) -> Json<Value> {
    shared.script.send_replace(Arc::new(Rendered::new(script)));
    Json(json!({}))
}

async fn take_verdict(State(shared): State<Arc<Shared>>) -> Json<Verdict> {
    let mut verdict = shared.verdict.lock().unwrap_or_else(PoisonError::into_inner);
    Json(std::mem::take(&mut verdict))
}

async fn respond(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    send(&shared, &body, |rendered| rendered.answer_to(&body))
}

async fn complete(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    send(&shared, &body, |rendered| &rendered.completion)
}

async fn create_message(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    send(&shared, &body, |rendered| &rendered.message)
}

fn send(shared: &Shared, body: &[u8], choose: impl Fn(&Rendered) -> &Answer) -> Response {
    shared.verdict.lock().unwrap_or_else(PoisonError::into_inner).add(body);
    let number = shared.number.fetch_add(1, Ordering::Relaxed) + 1;
    let rendered = Arc::clone(&shared.script.borrow());
    let answer = choose(&rendered);
    if !is_streamed(body) {
        let json = ("content-type", "application/json");
        return ([json], answer.json(number)).into_response();
    }
    let events = answer.events(number);
    let body = stream::paced(events, &rendered.script, shared.script.subscribe());
    ([("content-type", "text/event-stream")], Body::from_stream(body)).into_response()
}

impl Rendered {
    fn answer_to(&self, body: &[u8]) -> &Answer {
        match Marker::all_in(body).last() {
            Some(Marker::User { turn, .. }) if self.script.tools && turn % 2 == 1 => &self.call,
            _ => &self.text,
        }
    }
}

fn is_streamed(body: &[u8]) -> bool {
    let flags = [&br#""stream":true"#[..], br#""stream": true"#];
    flags.iter().any(|flag| memchr::memmem::find(body, flag).is_some())
}
