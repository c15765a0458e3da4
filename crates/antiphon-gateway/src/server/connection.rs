//! The connections of callers.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
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

use super::stall::Stalling;
use crate::bound::LONGEST;
use crate::settings::Limits;

/// All connections of a server. They speak HTTP/1.1.
#[derive(Clone)]
pub(super) struct Connections {
    app: Router,
    http: http1::Builder,
    client_timeout: Duration,
    slots: Arc<Semaphore>,
    open: TaskTracker,
    /// Cancelled when each is to end with the request that it is at.
    ending: CancellationToken,
    /// Cancelled when they are to end at once.
    cut: CancellationToken,
}

/// The right to have a connection open.
pub(super) struct Slot(#[expect(dead_code, reason = "it is held")] OwnedSemaphorePermit);

impl Connections {
    /// No connections yet, of clients of `app`.
    pub(super) fn new(app: Router, limits: &Limits) -> Self {
        Self {
            app,
            http: http(limits),
            client_timeout: limits.client_timeout,
            slots: Arc::new(Semaphore::new(limits.max_connections)),
            open: TaskTracker::new(),
            ending: CancellationToken::new(),
            cut: CancellationToken::new(),
        }
    }

    /// Waits until one more may be open.
    pub(super) async fn slot(&self) -> Slot {
        let slots = Arc::clone(&self.slots);
        if slots.available_permits() == 0 {
            tracing::warn!("as many connections are open as may be; new ones wait");
        }
        Slot(slots.acquire_owned().await.expect("the semaphore is never closed"))
    }

    /// Serves a connection in a task of its own.
    pub(super) fn serve(&self, stream: TcpStream, slot: Slot) {
        let io = Stalling::new(stream, self.client_timeout);
        let app = TowerToHyperService::new(self.app.clone());
        let upgrade = Upgrade::of(self, slot);
        let slot = Arc::clone(&upgrade.slot);
        let app = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(upgrade.clone());
            app.call(request)
        });
        let connection = self.http.serve_connection(io, app).with_upgrades();
        let (ending, cut) = (self.ending.clone(), self.cut.clone());
        self.open.spawn(async move {
            let served = async {
                let mut connection = pin!(connection);
                tokio::select! {
                    served = connection.as_mut() => return served,
                    () = ending.cancelled() => connection.as_mut().graceful_shutdown(),
                }
                connection.await
            };
            tokio::select! {
                served = served => {
                    if let Err(error) = served {
                        tracing::debug!(%error, "a connection broke");
                    }
                }
                () = cut.cancelled() => {}
            }
            drop(slot);
        });
    }

    /// Ends each connection with the request that it is at, and waits until all have ended.
    pub(super) async fn end(&self) {
        self.ending.cancel();
        self.open.close();
        self.open.wait().await;
    }

    /// Ends all connections now.
    pub(super) fn cut(&self) {
        self.cut.cancel();
    }
}

/// A connection as its requests see it: it can go on in another protocol than HTTP.
#[derive(Clone)]
pub(crate) struct Upgrade {
    slot: Arc<Slot>,
    open: TaskTracker,
    cut: CancellationToken,
}

impl Upgrade {
    fn of(connections: &Connections, slot: Slot) -> Self {
        Self { slot: Arc::new(slot), open: connections.open.clone(), cut: connections.cut.clone() }
    }

    /// Goes on with `speaking`, in a task of its own. The connection counts as open until that ends,
    /// and is cut when all are.
    pub(crate) fn go_on(self, speaking: impl Future<Output = ()> + Send + 'static) {
        let Self { slot, open, cut } = self;
        open.spawn(async move {
            tokio::select! {
                () = speaking => {}
                () = cut.cancelled() => {}
            }
            drop(slot);
        });
    }
}

/// The least room of a connection for what is read and not yet taken, and for what waits to be
/// written.
const BUFFER: usize = 64 << 10;

/// Headers are refused here at twice their bound, without a word: what is between is refused in the
/// provider's form, once it is read.
fn http(limits: &Limits) -> http1::Builder {
    let headers = limits.max_header_bytes.saturating_mul(2);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout.min(LONGEST))
        .max_header_size(headers)
        .max_buf_size(headers.max(BUFFER));
    http
}
