//! The gateway as a server.

mod retention;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use antiphon_store::Store;
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::connections::{Connections, Listener};
use crate::gateway::Gateway;
use crate::metrics::OpenGauge;
use crate::settings::Settings;
use crate::{background, jobs, owner, routes, watcher, webhooks};

/// A gateway that is ready to serve.
pub struct Server {
    gateway: Arc<Gateway>,
    listener: TcpListener,
    /// The listener of the metrics, if they have one of their own.
    metrics_listener: Option<TcpListener>,
}

impl Server {
    /// Prepares a gateway on `listener`. Settles the turns that a former process left open, before
    /// the first request is accepted.
    ///
    /// Fails if the settings do not determine the tenant of each caller, or if no secret decrypts
    /// the store's key. The error is a sentence for the operator, and the open turns stay
    /// unchanged.
    pub async fn prepare(
        listener: TcpListener,
        settings: Settings,
        store: Arc<dyn Store>,
    ) -> io::Result<Self> {
        let gateway = Arc::new(Gateway::new(settings, store).await?);
        let settled = gateway.store.settle_pending_turns().await.map_err(io::Error::other)?;
        if settled > 0 {
            tracing::info!(settled, "settled the turns that a former process left open");
        }
        Ok(Self { gateway, listener, metrics_listener: None })
    }

    /// Serves the metrics on a listener of their own, until all open turns have ended.
    #[must_use]
    pub fn with_metrics(self, listener: TcpListener) -> Self {
        Self { metrics_listener: Some(listener), ..self }
    }

    /// Serves the API until `shutdown`. After that, new requests get status 503 while open turns
    /// finish. When the grace period of the settings ends, the remaining turns settle as if their
    /// callers had disconnected.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        let address = self.listener.local_addr()?.ip();
        let app = routes::router(&self.gateway, address);
        let (limits, metrics) = (&self.gateway.settings.limits, &self.gateway.metrics);
        let connections = Connections::new(app, limits, metrics.open.connections.clone());
        let listener = Listener::start(self.listener, connections.clone());
        let scrapes =
            self.metrics_listener.map(|it| serve_metrics(&self.gateway, it)).transpose()?;
        tokio::select! {
            () = shutdown => {}
            () = run_background_tasks(&self.gateway) => {}
        }
        stop(&self.gateway, listener, connections).await;
        if let Some((listener, connections)) = scrapes {
            listener.end().await;
            connections.abort();
        }
        Ok(())
    }
}

/// Serves the metrics on this listener.
fn serve_metrics(
    gateway: &Arc<Gateway>,
    listener: TcpListener,
) -> io::Result<(Listener, Connections)> {
    let app = routes::metrics_router(gateway, listener.local_addr()?.ip());
    let connections = Connections::new(app, &gateway.settings.limits, OpenGauge::unread());
    Ok((Listener::start(listener, connections.clone()), connections))
}

/// Runs the background tasks of the gateway.
async fn run_background_tasks(gateway: &Arc<Gateway>) {
    let store = &*gateway.store;
    tokio::select! {
        () = settle_abandoned(store) => {}
        () = background::resume_abandoned(gateway) => {}
        () = gateway.jobs.cancel_marked(store) => {}
        () = jobs::expire(store) => {}
        () = retention::expire(store, gateway.settings.retention) => {}
        () = retention::expire_copies(store) => {}
        () = webhooks::deliver(&gateway.webhooks, store, &gateway.metrics.webhooks) => {}
        () = watcher::run(gateway) => {}
        () = gateway.export_metrics() => {}
        () = owner::detect_capabilities(&gateway.upstreams) => {}
    }
}

/// The interval between searches for turns that other processes left open when they died.
const SEARCH_PERIOD: Duration = Duration::from_secs(10);

/// Settles abandoned turns periodically, and never returns. A store of one process has none,
/// because the turns of its previous process were settled at startup.
async fn settle_abandoned(store: &dyn Store) {
    if store.lease_queue().is_none() {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(SEARCH_PERIOD).await;
        match store.settle_pending_turns().await {
            Ok(0) => {}
            Ok(settled) => tracing::info!(settled, "settled turns that a process left open"),
            Err(error) => {
                tracing::warn!(%error, "could not settle turns that a process left open");
            }
        }
    }
}

/// Prepares a gateway and serves it: [`Server::prepare`], [`Server::run`].
pub async fn serve(
    listener: TcpListener,
    settings: Settings,
    store: Arc<dyn Store>,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    Server::prepare(listener, settings, store).await?.run(shutdown).await
}

/// The time limit for turns to settle at a stop, and for their connections to end.
const SETTLING: Duration = Duration::from_secs(5);

/// Rejects new requests, waits for open requests and turns, settles the remaining turns, and closes
/// the store.
async fn stop(gateway: &Gateway, listener: Listener, connections: Connections) {
    gateway.stopping.cancel();
    gateway.turns.close();
    let mut listener = Some(listener);
    let ended = timeout(gateway.settings.shutdown_grace, async {
        gateway.turns.wait().await;
        end_listener(&mut listener).await;
        connections.end().await;
        // Wait for the turns of requests that were in flight during the first wait.
        gateway.turns.wait().await;
    });
    // Other processes may still cancel background responses of this one.
    let has_ended = tokio::select! {
        ended = ended => ended.is_ok(),
        () = gateway.jobs.cancel_marked(&*gateway.store) => false,
    };
    if !has_ended {
        gateway.closing.cancel();
        end_listener(&mut listener).await;
        settle(gateway, &connections).await;
    }
    connections.abort();
    gateway.store.close().await;
    gateway.flush_telemetry().await;
}

async fn end_listener(listener: &mut Option<Listener>) {
    if let Some(listener) = listener.take() {
        listener.end().await;
    }
}

async fn settle(gateway: &Gateway, connections: &Connections) {
    let ended = async { tokio::join!(gateway.turns.wait(), connections.end()) };
    if timeout(SETTLING, ended).await.is_err() && !gateway.turns.is_empty() {
        tracing::warn!("turns are still open after the grace period; the next start settles them");
    }
}
