//! The provider behind the gateway: strict about what it is sent, and in no hurry.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{io, mem};

use antiphon_testkit::judge::judge;
use antiphon_testkit::{Frame, Refusal};
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

use crate::fuse::{Fuse, Moment};
use crate::mark::Mark;
use crate::model::{Asked, Plan};

/// What the model was given.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// The turn that asked.
    pub(crate) turn: u32,
    /// The marks of all items, in order, the turn's own input at the end.
    pub(crate) marks: Vec<Mark>,
}

/// A provider that keeps no state, on a loopback port.
pub(crate) struct Provider {
    url: String,
    shared: Arc<Shared>,
}

struct Shared {
    seen: Mutex<Seen>,
    fuse: Mutex<Arc<Fuse>>,
    rng: Mutex<fastrand::Rng>,
}

/// What was seen since it was last taken.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The views of requests that were accepted.
    pub(crate) views: Vec<View>,
    /// What the provider refused, in its own words.
    pub(crate) refusals: Vec<String>,
}

impl Provider {
    /// Starts it.
    pub(crate) async fn start(seed: u64) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/v1", listener.local_addr()?);
        let mut rng = fastrand::Rng::with_seed(seed);
        let fuse = Mutex::new(Arc::new(Fuse::light(&mut rng)));
        let shared = Arc::new(Shared { seen: Mutex::default(), fuse, rng: Mutex::new(rng) });
        let router = Router::new()
            .route("/v1/responses", post(respond))
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { url, shared })
    }

    /// Its base URL.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Tells `fuse` what happens from now on.
    pub(crate) fn watch(&self, fuse: &Arc<Fuse>) {
        *lock(&self.shared.fuse) = Arc::clone(fuse);
    }

    /// Takes what was seen so far.
    pub(crate) fn seen(&self) -> Seen {
        mem::take(&mut lock(&self.shared.seen))
    }
}

async fn respond(State(shared): State<Arc<Shared>>, Json(request): Json<Value>) -> Response {
    let fuse = Arc::clone(&lock(&shared.fuse));
    fuse.saw(Moment::Asked);
    if let Err(refusal) = judge(&request) {
        return refused(&shared, &refusal);
    }
    let Some(asked) = Asked::of(&request) else {
        return unmarked(&shared);
    };
    lock(&shared.seen).views.push(View { turn: asked.mark().turn, marks: asked.view.clone() });
    let frames = asked.answer(&request).frames();
    let breaks = asked.plan == Plan::Break;
    let delivery = Delivery { left: kept(frames, breaks), breaks, fuse, shared };
    let body = Body::from_stream(stream::unfold(delivery, Delivery::next));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

fn refused(shared: &Shared, refusal: &Refusal) -> Response {
    lock(&shared.seen).refusals.push(refusal.message.clone());
    (refusal.status, Json(refusal.body())).into_response()
}

fn unmarked(shared: &Shared) -> Response {
    lock(&shared.seen).refusals.push("no item of the input bears a mark".into());
    http::StatusCode::BAD_REQUEST.into_response()
}

/// The frames to send: all, or those up to the middle of the last item.
fn kept(frames: Vec<Frame>, breaks: bool) -> VecDeque<Bytes> {
    let last_delta =
        frames.iter().rposition(|frame| frame.name() == Some("response.output_text.delta"));
    let end = last_delta.filter(|_| breaks).unwrap_or(frames.len());
    frames.into_iter().take(end).map(Bytes::from).collect()
}

/// An answer on its way, frame by frame, with pauses.
struct Delivery {
    left: VecDeque<Bytes>,
    breaks: bool,
    fuse: Arc<Fuse>,
    shared: Arc<Shared>,
}

/// How long a pause between two frames may be, in microseconds. Two of three have none.
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
                self.fuse.saw(Moment::Said);
                if self.left.is_empty() {
                    self.fuse.saw(Moment::AllSaid);
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
