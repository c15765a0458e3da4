//! Connections beyond the limit.
//!
//! A gateway at its limit is healthy, so it must still answer health checks. A request reveals its
//! path only after its connection is accepted. For this reason, a few more connections are accepted
//! for a short time:
//!
//! ```text
//! Reserved ── health check ────> answered, closed
//!    │ └───── no request ──────> closed
//!    └─────── other request ───> Waiting ── another connection ends ──> served, closed
//!                                   └────── too long, too many ───────> rejected for now, closed
//! ```

use std::convert::Infallible;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, StatusCode, header};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::write_timeout::WriteTimeoutStream;
use super::{App, Connections, Upgrade, http};
use crate::error::ApiError;
use crate::settings::Limits;

/// The maximum number of open connections whose request is unknown.
const RESERVED: usize = 32;
/// The maximum number of waiting requests.
const WAITING: usize = 1024;
/// The time limit for the head of a request.
const HEAD: Duration = Duration::from_secs(2);

/// The connections beyond the limit.
#[derive(Clone)]
pub(super) struct Overflow {
    http: http1::Builder,
    reserved: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    /// The time limit for a waiting request.
    longest: Duration,
}

impl Overflow {
    pub(super) fn new(limits: &Limits) -> Self {
        let mut http = http(limits);
        http.header_read_timeout(limits.header_timeout.min(HEAD));
        Self {
            http,
            reserved: Arc::new(Semaphore::new(RESERVED)),
            waiting: Arc::new(Semaphore::new(WAITING)),
            longest: limits.header_timeout,
        }
    }

    /// Waits until one more connection may be accepted.
    pub(super) async fn reserve(&self) -> OwnedSemaphorePermit {
        let reserved = Arc::clone(&self.reserved).acquire_owned().await;
        reserved.expect("the semaphore is never closed")
    }

    /// Serves a single request.
    pub(super) fn serve(
        &self,
        connections: &Connections,
        io: WriteTimeoutStream,
        app: App,
        reserved: OwnedSemaphorePermit,
    ) {
        let connection = Arc::new(OverflowConnection {
            connections: connections.clone(),
            reserved: Mutex::new(Some(reserved)),
            upgrade: OnceLock::new(),
        });
        let service =
            service_fn(move |request| Arc::clone(&connection).answer(app.clone(), request));
        connections.spawn(&self.http, io, service);
    }
}

/// A connection beyond the limit.
struct OverflowConnection {
    connections: Connections,
    /// Held until the request is known.
    reserved: Mutex<Option<OwnedSemaphorePermit>>,
    /// Set when the connection comes within the limit, and held until it ends.
    upgrade: OnceLock<Upgrade>,
}

impl OverflowConnection {
    async fn answer(
        self: Arc<Self>,
        app: App,
        mut request: Request<Incoming>,
    ) -> Result<Response, Infallible> {
        if !is_health_check(request.uri().path()) {
            let Some(upgrade) = self.wait().await else {
                return Ok(closing(ApiError::TooManyConnections.into_response()));
            };
            request.extensions_mut().insert(upgrade);
        }
        app.call(request).await.map(closing)
    }

    /// Waits until the connection is within the limit. Returns `None` if too many requests wait, or
    /// if this one has waited too long.
    async fn wait(&self) -> Option<Upgrade> {
        let overflow = self.connections.overflow();
        let _waiting = overflow.waiting.try_acquire().ok()?;
        drop(self.reserved.lock().unwrap_or_else(PoisonError::into_inner).take());
        let slot = timeout(overflow.longest, self.connections.slot()).await.ok()?;
        let upgrade = Upgrade::new(&self.connections, slot);
        Some(self.upgrade.get_or_init(|| upgrade).clone())
    }
}

/// Whether a path belongs to a health check.
fn is_health_check(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

/// Marks the last answer of a connection, unless the connection switches to another protocol.
fn closing(mut response: Response) -> Response {
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
