//! The gateway's provider: strict about its requests, and slow.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{io, mem};

use antiphon_mock::judge::validate;
use antiphon_mock::{Frame, Refusal};
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use bytes::Bytes;
use futures_util::stream;
use http::header;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::kill_trigger::{KillTrigger, Moment};
use crate::mark::Mark;
use crate::model::{ModelRequest, Plan};

/// The input of a model call.
#[derive(Clone, Debug)]
pub(crate) struct ModelInput {
    /// The number of the requesting turn.
    pub(crate) turn: u32,
    /// The marks of all items, in order, with the turn's own input at the end.
    pub(crate) marks: Vec<Mark>,
}

/// A stateless provider on a loopback port.
pub(crate) struct Provider {
    url: String,
    shared: Arc<Shared>,
}

struct Shared {
    observed: Mutex<Observed>,
    trigger: Mutex<Arc<KillTrigger>>,
    rng: Mutex<fastrand::Rng>,
}

/// The requests since the last call to `take_observed`.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// The model inputs of accepted requests.
    pub(crate) model_inputs: Vec<ModelInput>,
    /// The provider's refusals.
    pub(crate) refusals: Vec<String>,
}

impl Provider {
    /// Starts the provider.
    pub(crate) async fn start(seed: u64) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/v1", listener.local_addr()?);
        let mut rng = fastrand::Rng::with_seed(seed);
        let trigger = Mutex::new(Arc::new(KillTrigger::new(&mut rng)));
        let shared = Arc::new(Shared { observed: Mutex::default(), trigger, rng: Mutex::new(rng) });
        let router = Router::new()
            .route("/v1/responses", post(respond))
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { url, shared })
    }

    /// The base URL.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Reports events to `trigger` from now on.
    pub(crate) fn watch(&self, trigger: &Arc<KillTrigger>) {
        *lock(&self.shared.trigger) = Arc::clone(trigger);
    }

    /// Takes the requests so far.
    pub(crate) fn take_observed(&self) -> Observed {
        mem::take(&mut lock(&self.shared.observed))
    }
}

async fn respond(State(shared): State<Arc<Shared>>, Json(request): Json<Value>) -> Response {
    let trigger = Arc::clone(&lock(&shared.trigger));
    trigger.observe(Moment::ModelCalled);
    if let Err(refusal) = validate(&request) {
        return refused(&shared, &refusal);
    }
    let Some(model_request) = ModelRequest::parse(&request) else {
        return unmarked(&shared);
    };
    lock(&shared.observed).model_inputs.push(ModelInput {
        turn: model_request.mark().turn,
        marks: model_request.model_input.clone(),
    });
    let frames = model_request.answer(&request).frames();
    let breaks = model_request.plan == Plan::Break;
    let delivery = Delivery { left: frames_to_send(frames, breaks), breaks, trigger, shared };
    let body = Body::from_stream(stream::unfold(delivery, Delivery::next));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

fn refused(shared: &Shared, refusal: &Refusal) -> Response {
    lock(&shared.observed).refusals.push(refusal.message.clone());
    (refusal.status, Json(refusal.body())).into_response()
}

fn unmarked(shared: &Shared) -> Response {
    lock(&shared.observed).refusals.push("no item of the input has a mark".into());
    http::StatusCode::BAD_REQUEST.into_response()
}

/// The frames to send: all, or those up to the middle of the last item.
fn frames_to_send(frames: Vec<Frame>, breaks: bool) -> VecDeque<Bytes> {
    let last_delta =
        frames.iter().rposition(|frame| frame.name() == Some("response.output_text.delta"));
    let end = last_delta.filter(|_| breaks).unwrap_or(frames.len());
    frames.into_iter().take(end).map(Bytes::from).collect()
}

/// An answer that is sent frame by frame, with pauses.
struct Delivery {
    left: VecDeque<Bytes>,
    breaks: bool,
    trigger: Arc<KillTrigger>,
    shared: Arc<Shared>,
}

/// The maximum pause between two frames, in microseconds. Two of three frames have no pause.
const PAUSE: u64 = 3_000;

impl Delivery {
    async fn next(mut self) -> Option<(Result<Bytes, io::Error>, Self)> {
        let pause = lock(&self.shared.rng).u64(..PAUSE * 3).saturating_sub(PAUSE * 2);
        match pause {
            0 => tokio::task::yield_now().await,
            pause => tokio::time::sleep(Duration::from_micros(pause)).await,
        }
        match self.left.pop_front() {
            Some(frame) => {
                self.trigger.observe(Moment::ModelChunk);
                if self.left.is_empty() {
                    self.trigger.observe(Moment::ModelDone);
                }
                Some((Ok(frame), self))
            }
            None if mem::take(&mut self.breaks) => {
                Some((Err(io::ErrorKind::ConnectionReset.into()), self))
            }
            None => None,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
