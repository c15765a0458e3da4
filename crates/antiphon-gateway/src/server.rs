//! The gateway as a server.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use antiphon_store::Store;
use axum::Router;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::abandoned;
use crate::gateway::Gateway;
use crate::routes;
use crate::settings::Settings;

/// A gateway that is ready to serve.
pub struct Server {
    gateway: Arc<Gateway>,
    listener: TcpListener,
}

impl Server {
    /// Prepares a gateway on `listener`: turns that a former process left open are settled before
    /// the first request is taken.
    pub async fn prepare(
        listener: TcpListener,
        settings: Settings,
        store: Arc<dyn Store>,
    ) -> io::Result<Self> {
        let settled = store.settle_openings().await.map_err(io::Error::other)?;
        if settled > 0 {
            tracing::info!(settled, "settled the turns that a former process left open");
        }
        let gateway = Arc::new(Gateway::new(settings, store).await?);
        Ok(Self { gateway, listener })
    }

    /// Serves the API until `shutdown`; then open turns finish, or, when the settings' grace is
    /// over, settle as if their callers had left.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        let stopping = CancellationToken::new();
        let app = routes::router(&self.gateway);
        let server = tokio::spawn(run(self.listener, app, stopping.clone()));
        tokio::select! {
            () = shutdown => {}
            () = abandoned::settle(&*self.gateway.store) => {}
        }
        stopping.cancel();
        stop(&self.gateway, server).await
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

async fn run(listener: TcpListener, app: Router, stopping: CancellationToken) -> io::Result<()> {
    use axum::serve::ListenerExt;
    let listener = listener.tap_io(|connection| {
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(%error, "a connection stays with delays");
        }
    });
    axum::serve(listener, app).with_graceful_shutdown(stopping.cancelled_owned()).await
}

/// How long turns that were told to settle may take for it.
const SETTLING: Duration = Duration::from_secs(5);

/// Waits for open requests and turns, settles what is still open, closes the store.
async fn stop(gateway: &Gateway, mut server: JoinHandle<io::Result<()>>) -> io::Result<()> {
    let grace = gateway.settings.shutdown_grace;
    gateway.turns.close();
    let all = async { tokio::join!(&mut server, gateway.turns.wait()).0 };
    let ended = timeout(grace, all).await;
    gateway.closing.cancel();
    if timeout(SETTLING, gateway.turns.wait()).await.is_err() {
        tracing::warn!("turns were still open at the end; the next start settles them");
    }
    server.abort();
    gateway.store.close().await;
    match ended {
        Ok(Ok(result)) => result,
        Ok(Err(_)) | Err(_) => Ok(()),
    }
}
