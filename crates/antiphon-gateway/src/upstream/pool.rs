//! The open connections to one server.
//!
//! A connection with HTTP/1.1 serves one request at a time and has no task of its own: the request
//! polls it, so bytes pass from the socket to their turn without a change of tasks. A connection
//! with HTTP/2 serves as many requests at a time as the server allows; further requests open
//! another one.

mod http2;

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::uri::{PathAndQuery, Scheme};
use http::{HeaderValue, Request, Response, Uri, header};
use hyper::body::{Body as _, Frame, Incoming};
use hyper::client::conn::{TrySendError, http1};
use hyper_util::client::legacy::connect::Connection as _;
use tokio::time::{Instant, sleep};
use tower::{Service, ServiceExt as _};

use self::http2::{Http2, Shared, Stream};
use super::connector::Connector;
use super::error::UpstreamError;
use super::http::RequestBody;

/// The maximum number of bytes that a connection reads at once, which also bounds the head of an
/// answer. A buffer that has grown keeps its size until the connection closes.
const READ_BUFFER: usize = 64 << 10;

/// How long an unused connection stays open.
const IDLE: Duration = Duration::from_mins(1);

type Io = <Connector as Service<Uri>>::Response;

/// The connections to one server.
pub(super) struct Pool {
    connector: Connector,
    idle: Arc<Idle>,
    /// Held while a connection with HTTP/2 is opened, because the requests that wait for it may all
    /// find room in it.
    opening: tokio::sync::Mutex<()>,
}

/// The body of an answer. At its end, its connection or its stream serves other requests. Dropping
/// it earlier closes the connection or the stream, and so cancels the server's work.
pub(super) struct AnswerFrames {
    incoming: Incoming,
    /// The connection with HTTP/1.1, until the end of the body.
    connection: Option<Http1>,
    /// The stream of a connection with HTTP/2, until the end of the body.
    stream: Option<Stream>,
    idle: Arc<Idle>,
}

/// The connections that a request can use.
#[derive(Default)]
struct Idle(Mutex<State>);

#[derive(Default)]
struct State {
    /// Unused ones, and the time of their last use.
    free: Vec<(Http1, Instant)>,
    /// Those with HTTP/2.
    shared: Vec<Shared>,
    /// Whether the last connection had HTTP/2.
    has_http2: bool,
    /// Whether a task closes the ones that stay unused.
    is_tended: bool,
}

/// A connection that can send a request.
enum Connected {
    Http1(Http1),
    Http2(Http2),
}

/// A connection that nobody polls but its request.
struct Http1 {
    sender: http1::SendRequest<RequestBody>,
    /// `None` once closed.
    connection: Option<Pin<Box<http1::Connection<Io, RequestBody>>>>,
}

impl Pool {
    /// An empty set of connections, which `connector` opens.
    pub(super) fn new(connector: Connector) -> Self {
        Self { connector, idle: Arc::default(), opening: tokio::sync::Mutex::default() }
    }

    /// Sends a request. If the server has closed an open connection before the request was sent,
    /// another one sends it.
    pub(super) async fn send(
        &self,
        mut request: Request<RequestBody>,
    ) -> Result<Response<AnswerFrames>, UpstreamError> {
        let uri = request.uri().clone();
        loop {
            let (connected, is_new) = match self.idle.take() {
                Some(connected) => (connected, false),
                // Boxed, so that a request over an open connection needs no memory for a new one.
                None => Box::pin(self.open(uri.clone())).await?,
            };
            match connected.send(request, &self.idle).await {
                Ok(answer) => return Ok(answer),
                Err(_) if is_new => return Err(UpstreamError::BrokeOff),
                Err(mut error) => {
                    request = error.take_message().ok_or(UpstreamError::BrokeOff)?;
                    *request.uri_mut() = uri.clone();
                }
            }
        }
    }

    /// Opens a connection, or finds one that another request has opened. Returns whether it is new.
    ///
    /// Once the server is known to speak HTTP/2, only one request opens a connection at a time, and
    /// the others then share it. After a failure, each opens its own.
    async fn open(&self, server: Uri) -> Result<(Connected, bool), UpstreamError> {
        let mut _opening = None;
        if self.idle.lock().has_http2 {
            _opening = Some(self.opening.lock().await);
            if let Some(connected) = self.idle.take() {
                return Ok((connected, false));
            }
            if !self.idle.lock().has_http2 {
                _opening = None;
            }
        }
        let connected = self.connect(server).await;
        self.idle.lock().has_http2 = matches!(connected, Ok(Connected::Http2(_)));
        Ok((connected?, true))
    }

    async fn connect(&self, server: Uri) -> Result<Connected, UpstreamError> {
        let io = self.connector.clone().oneshot(server).await;
        let io = io.map_err(|error| UpstreamError::Unreachable(innermost(&*error)))?;
        let broke_off = |_| UpstreamError::BrokeOff;
        if io.connected().is_negotiated_h2() {
            let shared = Shared::handshake(io).await.map_err(broke_off)?;
            return Ok(Connected::Http2(self.idle.share(shared)));
        }
        let mut http = http1::Builder::new();
        let (sender, connection) =
            http.max_buf_size(READ_BUFFER).handshake(io).await.map_err(broke_off)?;
        let connection = Some(Box::pin(connection));
        Ok(Connected::Http1(Http1 { sender, connection }))
    }
}

/// The cause of an error that has no further cause.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.last().map(ToString::to_string).unwrap_or_default()
}

impl Connected {
    /// Sends a request. The error has the request if nothing of it was sent.
    async fn send(
        self,
        mut request: Request<RequestBody>,
        idle: &Arc<Idle>,
    ) -> Result<Response<AnswerFrames>, TrySendError<Request<RequestBody>>> {
        let (answer, connection, stream) = match self {
            Self::Http1(mut http) => {
                name_host(&mut request);
                (http.send(request).await?, Some(http), None)
            }
            Self::Http2(Http2 { mut sender, stream }) => {
                (sender.try_send_request(request).await?, None, Some(stream))
            }
        };
        let idle = Arc::clone(idle);
        Ok(answer.map(|incoming| AnswerFrames { incoming, connection, stream, idle }))
    }
}

/// Moves the server's name from the URL to a header, as HTTP/1.1 requires.
fn name_host(request: &mut Request<RequestBody>) {
    let uri = request.uri();
    let default_port = if uri.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
    let host = uri.host().unwrap_or_default();
    let host = match uri.port_u16().filter(|port| *port != default_port) {
        Some(port) => HeaderValue::try_from(format!("{host}:{port}")),
        None => HeaderValue::try_from(host),
    };
    let path = uri.path_and_query().cloned();
    let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
    if let Ok(host) = host {
        request.headers_mut().entry(header::HOST).or_insert(host);
    }
    *request.uri_mut() = Uri::from(path);
}

impl Http1 {
    async fn send(
        &mut self,
        request: Request<RequestBody>,
    ) -> Result<Response<Incoming>, TrySendError<Request<RequestBody>>> {
        let mut answer = pin!(self.sender.try_send_request(request));
        poll_fn(|cx| {
            poll_connection(&mut self.connection, cx);
            answer.as_mut().poll(cx)
        })
        .await
    }

    /// Whether it is open and awaits a request.
    fn is_ready(&self) -> bool {
        self.connection.is_some() && self.sender.is_ready()
    }
}

/// Reads and writes as much as possible. A closed connection is dropped, which ends its request.
fn poll_connection<F: Future>(connection: &mut Option<Pin<Box<F>>>, cx: &mut Context<'_>) {
    if let Some(open) = connection
        && open.as_mut().poll(cx).is_ready()
    {
        *connection = None;
    }
}

impl AnswerFrames {
    /// The next frame; `None` at the end.
    pub(super) async fn frame(&mut self) -> Option<Result<Frame<Bytes>, hyper::Error>> {
        poll_fn(|cx| self.poll_frame(cx)).await
    }

    fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let mut frame = Pin::new(&mut self.incoming).poll_frame(cx);
        if let (Poll::Pending, Some(http)) = (&frame, &mut self.connection) {
            poll_connection(&mut http.connection, cx);
            frame = Pin::new(&mut self.incoming).poll_frame(cx);
        }
        if let Poll::Ready(None) = frame {
            self.stream = None;
            if let Some(http) = self.connection.take() {
                self.idle.put(http);
            }
        }
        frame
    }
}

impl Idle {
    fn take(&self) -> Option<Connected> {
        let mut state = self.lock();
        state.shared.retain(|shared| !shared.is_closed());
        if let Some(http) = state.shared.iter_mut().find_map(Shared::begin_stream) {
            return Some(Connected::Http2(http));
        }
        state.free.pop().map(|(http, _)| Connected::Http1(http))
    }

    fn put(self: &Arc<Self>, http: Http1) {
        if http.is_ready() {
            let mut state = self.lock();
            state.free.push((http, Instant::now()));
            self.tend(&mut state);
        }
    }

    /// Adds a new connection with HTTP/2, and begins its first stream.
    fn share(self: &Arc<Self>, mut shared: Shared) -> Http2 {
        let mut state = self.lock();
        let first = shared.begin();
        state.shared.push(shared);
        self.tend(&mut state);
        first
    }

    /// Closes the connections that stay unused, in a task that ends when none is left.
    fn tend(self: &Arc<Self>, state: &mut State) {
        if !state.is_tended {
            state.is_tended = true;
            tokio::spawn(tend(Arc::downgrade(self)));
        }
    }

    /// Each change is one step, so a panic elsewhere cannot leave it inconsistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Closes the connections that were not used for a long time.
    fn close_unused(&mut self, now: Instant) {
        let is_unused = |used: Instant| now.duration_since(used) >= IDLE;
        self.free.retain(|(_, used)| !is_unused(*used));
        self.shared.retain(|shared| !is_unused(shared.used));
        self.is_tended = !self.free.is_empty() || !self.shared.is_empty();
    }
}

async fn tend(idle: Weak<Idle>) {
    let mut is_tended = true;
    while is_tended {
        sleep(IDLE / 2).await;
        let Some(idle) = idle.upgrade() else { return };
        let mut state = idle.lock();
        state.close_unused(Instant::now());
        is_tended = state.is_tended;
    }
}

#[cfg(test)]
mod tests;
