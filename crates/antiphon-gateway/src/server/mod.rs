//! The gateway as a server.

mod connection;
mod listening;
mod overflow;
mod stall;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use antiphon_store::Store;
use tokio::net::TcpListener;
use tokio::time::timeout;

use self::connection::Connections;
pub(crate) use self::connection::Upgrade;
use self::listening::Listening;
use crate::gateway::Gateway;
use crate::settings::Settings;
use crate::{abandoned, background, owner, retention, routes, watcher, webhooks};

/// A gateway that is ready to serve.
pub struct Server {
    gateway: Arc<Gateway>,
    listener: TcpListener,
}

impl Server {
    /// Prepares a gateway on `listener`: turns that a former process left open are settled before
    /// the first request is taken.
    ///
    /// Where the settings leave open whose data a caller sees, or no secret opens the store's key,
    /// the error says so in a sentence, and the open turns are left as they are.
    pub async fn prepare(
        listener: TcpListener,
        settings: Settings,
        store: Arc<dyn Store>,
    ) -> io::Result<Self> {
        let gateway = Arc::new(Gateway::new(settings, store).await?);
        let settled = gateway.store.settle_openings().await.map_err(io::Error::other)?;
        if settled > 0 {
            tracing::info!(settled, "settled the turns that a former process left open");
        }
        Ok(Self { gateway, listener })
    }

    /// Serves the API until `shutdown`. Then new requests are refused with status 503, while open
    /// turns finish; when the settings' grace is over, they settle as if their callers had left.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        let address = self.listener.local_addr()?.ip();
        let app = routes::router(&self.gateway, address);
        let connections = Connections::new(app, &self.gateway.settings.limits);
        let listening = Listening::start(self.listener, connections.clone());
        tokio::select! {
            () = shutdown => {}
            () = keep_house(&self.gateway) => {}
        }
        stop(&self.gateway, listening, connections).await;
        Ok(())
    }
}

/// What is done beside requests, as long as the gateway serves.
async fn keep_house(gateway: &Arc<Gateway>) {
    let store = &*gateway.store;
    tokio::select! {
        () = abandoned::settle(store) => {}
        () = background::take_up(gateway) => {}
        () = background::heed(&gateway.jobs, store) => {}
        () = background::expire(store) => {}
        () = retention::expire(store, gateway.settings.retention) => {}
        () = webhooks::tell(gateway) => {}
        () = watcher::run(gateway) => {}
        () = owner::find_out(&gateway.upstreams) => {}
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

/// How long turns that were told to settle, and their callers, may take for it.
const SETTLING: Duration = Duration::from_secs(5);

/// Refuses new requests, waits for open ones and their turns, settles what is still open, closes the
/// store.
async fn stop(gateway: &Gateway, listening: Listening, connections: Connections) {
    gateway.stopping.cancel();
    gateway.turns.close();
    let mut listening = Some(listening);
    let ended = timeout(gateway.settings.shutdown_grace, async {
        gateway.turns.wait().await;
        end_listening(&mut listening).await;
        connections.end().await;
        // Those whose requests were on their way when the first wait was over.
        gateway.turns.wait().await;
    });
    // Others may cancel what is still worked on here.
    let has_ended = tokio::select! {
        ended = ended => ended.is_ok(),
        () = background::heed(&gateway.jobs, &*gateway.store) => false,
    };
    if !has_ended {
        gateway.closing.cancel();
        end_listening(&mut listening).await;
        settle(gateway, &connections).await;
    }
    connections.cut();
    gateway.store.close().await;
}

async fn end_listening(listening: &mut Option<Listening>) {
    if let Some(listening) = listening.take() {
        listening.end().await;
    }
}

async fn settle(gateway: &Gateway, connections: &Connections) {
    let ended = async { tokio::join!(gateway.turns.wait(), connections.end()) };
    if timeout(SETTLING, ended).await.is_err() && !gateway.turns.is_empty() {
        tracing::warn!("turns were still open at the end; the next start settles them");
    }
}
