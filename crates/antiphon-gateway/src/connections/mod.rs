//! The connections of callers: listening, limits and time limits.

mod listener;
mod overflow;
mod write_timeout;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::Response;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioTimer;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) use self::listener::Listener;
use self::overflow::Overflow;
use self::write_timeout::WriteTimeoutStream;
use crate::entropy::MAX_TIME_LIMIT;
use crate::metrics::{Counted, OpenGauge};
use crate::settings::Limits;

/// All connections of a server. They use HTTP/1.1.
#[derive(Clone)]
pub(crate) struct Connections {
    app: Router,
    http: http1::Builder,
    client_timeout: Duration,
    slots: Arc<Semaphore>,
    /// The connections within the limit.
    counted: OpenGauge,
    overflow: Overflow,
    open: TaskTracker,
    /// Cancelled to end each connection after its current request.
    ending: CancellationToken,
    /// Cancelled to end all connections at once.
    aborted: CancellationToken,
}

/// The router in the form of a hyper service.
type App = TowerToHyperService<Router>;

/// The permission to accept a connection.
enum Admission {
    /// Within the limit.
    Slot(Slot),
    /// Beyond the limit.
    Reserved(OwnedSemaphorePermit),
}

/// The permission to keep a connection open.
struct Slot {
    _permit: OwnedSemaphorePermit,
    _counted: Counted,
}

impl Connections {
    /// An empty set of connections, served by `app` and counted by `counted`.
    pub(crate) fn new(app: Router, limits: &Limits, counted: OpenGauge) -> Self {
        Self {
            app,
            http: http(limits),
            client_timeout: limits.client_timeout,
            slots: Arc::new(Semaphore::new(limits.max_connections)),
            counted,
            overflow: Overflow::new(limits),
            open: TaskTracker::new(),
            ending: CancellationToken::new(),
            aborted: CancellationToken::new(),
        }
    }

    /// Waits until another connection may be accepted.
    async fn admission(&self) -> Admission {
        if let Some(slot) = self.free_slot() {
            return Admission::Slot(slot);
        }
        tracing::warn!("max-connections is reached; further requests wait, health checks do not");
        tokio::select! {
            biased;
            slot = self.slot() => Admission::Slot(slot),
            reserved = self.overflow.reserve() => Admission::Reserved(reserved),
        }
    }

    /// Serves a connection in a separate task.
    fn serve(&self, stream: TcpStream, admission: Admission) {
        let io = WriteTimeoutStream::new(stream, self.client_timeout);
        let app = TowerToHyperService::new(self.app.clone());
        match admission {
            Admission::Slot(slot) => self.serve_all(io, app, slot),
            Admission::Reserved(reserved) => match self.free_slot() {
                Some(slot) => self.serve_all(io, app, slot),
                None => self.overflow.serve(self, io, app, reserved),
            },
        }
    }

    /// Serves every request of a connection.
    fn serve_all(&self, io: WriteTimeoutStream, app: App, slot: Slot) {
        let upgrade = Upgrade::new(self, slot);
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(upgrade.clone());
            app.call(request)
        });
        self.spawn(&self.http, io, service);
    }

    /// Waits until one more connection is within the limit.
    async fn slot(&self) -> Slot {
        let slot = Arc::clone(&self.slots).acquire_owned().await;
        self.occupied(slot.expect("the semaphore is never closed"))
    }

    /// The connections beyond the limit.
    fn overflow(&self) -> &Overflow {
        &self.overflow
    }

    fn free_slot(&self) -> Option<Slot> {
        let permit = Arc::clone(&self.slots).try_acquire_owned().ok()?;
        Some(self.occupied(permit))
    }

    fn occupied(&self, permit: OwnedSemaphorePermit) -> Slot {
        Slot { _permit: permit, _counted: self.counted.count() }
    }

    /// Runs HTTP on a connection until it ends. The service is dropped at that time.
    fn spawn<S>(&self, http: &http1::Builder, io: WriteTimeoutStream, service: S)
    where
        S: Service<Request<Incoming>, Response = Response, Error = Infallible> + Send + 'static,
        S::Future: Send + 'static,
    {
        // On the heap, because the futures around it would contain it three times.
        let mut connection = Box::pin(http.serve_connection(io, service).with_upgrades());
        let (ending, aborted) = (self.ending.clone(), self.aborted.clone());
        self.open.spawn(async move {
            let served = async {
                tokio::select! {
                    served = connection.as_mut() => return served,
                    () = ending.cancelled() => connection.as_mut().graceful_shutdown(),
                }
                connection.await
            };
            tokio::select! {
                served = served => {
                    if let Err(error) = served {
                        tracing::debug!(%error, "a client connection failed");
                    }
                }
                () = aborted.cancelled() => {}
            }
        });
    }

    /// Ends each connection after its current request, and waits until all have ended.
    pub(crate) async fn end(&self) {
        self.ending.cancel();
        self.open.close();
        self.open.wait().await;
    }

    /// Ends all connections at once.
    pub(crate) fn abort(&self) {
        self.aborted.cancel();
    }
}

/// A connection as its requests see it: it can switch from HTTP to another protocol.
#[derive(Clone)]
pub(crate) struct Upgrade {
    slot: Arc<Slot>,
    open: TaskTracker,
    aborted: CancellationToken,
}

impl Upgrade {
    fn new(connections: &Connections, slot: Slot) -> Self {
        Self {
            slot: Arc::new(slot),
            open: connections.open.clone(),
            aborted: connections.aborted.clone(),
        }
    }

    /// Continues with `speaking` in a separate task. The connection counts as open until that task
    /// ends; [`Connections::abort`] ends it too.
    pub(crate) fn serve_upgraded(self, speaking: impl Future<Output = ()> + Send + 'static) {
        let Self { slot, open, aborted } = self;
        open.spawn(async move {
            tokio::select! {
                () = speaking => {}
                () = aborted.cancelled() => {}
            }
            drop(slot);
        });
    }
}

/// The minimum size of a connection's buffers, one for unread and one for unwritten data.
const BUFFER: usize = 64 << 10;

/// The HTTP settings of a connection.
///
/// hyper itself rejects headers beyond twice the limit, without an error object. Between the limit
/// and that size, the gateway reads the headers and rejects the request in the provider's form.
fn http(limits: &Limits) -> http1::Builder {
    let headers = limits.max_header_bytes.saturating_mul(2);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout.min(MAX_TIME_LIMIT))
        .max_header_size(headers)
        .max_buf_size(headers.max(BUFFER))
        // One buffer for all chunks that are ready: an event is three pieces, and a write of many
        // takes longer than their copy.
        .writev(false);
    http
}
