//! The gateway as a server.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use antiphon::IdSource;
use antiphon::item::FingerprintKey;
use antiphon_store::{ConversationId, Store, Tenant};
use axum::Router;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth::Authenticator;
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::lease::{Lease, Leases};
use crate::routes;
use crate::settings::Settings;
use crate::upstream::Upstreams;

/// Everything that the routes share.
pub(crate) struct Gateway {
    pub(crate) settings: Settings,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) upstreams: Upstreams,
    pub(crate) authenticator: Authenticator,
    pub(crate) fingerprint_key: FingerprintKey,
    /// Open turns. They outlive their connections.
    pub(crate) turns: TaskTracker,
    /// Cancelled when a stop will wait no longer: open turns end as if their callers had left.
    pub(crate) closing: CancellationToken,
    leases: Leases,
}

impl Gateway {
    async fn new(settings: Settings, store: Arc<dyn Store>) -> io::Result<Self> {
        let mut candidate = [0; 32];
        RandomIds.fill(&mut candidate);
        let secret = store.secret(candidate).await.map_err(io::Error::other)?;
        let mut key = [0; 16];
        key.copy_from_slice(&secret[..16]);
        Ok(Self {
            upstreams: Upstreams::new(&settings),
            authenticator: Authenticator::new(&settings, &secret),
            fingerprint_key: FingerprintKey::new(key),
            turns: TaskTracker::new(),
            closing: CancellationToken::new(),
            leases: Leases::default(),
            settings,
            store,
        })
    }

    /// The right to be the one open turn of a conversation.
    pub(crate) async fn lease(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
    ) -> Result<Lease, ApiError> {
        let wait = self.settings.turn_wait;
        let lease = self.leases.acquire(tenant, conversation, wait).await;
        lease.ok_or_else(ApiError::conversation_locked)
    }
}

/// Serves the API on `listener` until `shutdown`; then open turns finish, or, when the settings'
/// grace is over, settle as if their callers had left. Openings that a former process left are
/// settled before the first request is taken.
pub async fn serve(
    listener: TcpListener,
    settings: Settings,
    store: Arc<dyn Store>,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let settled = store.settle_openings().await.map_err(io::Error::other)?;
    if settled > 0 {
        tracing::info!(settled, "settled the turns that a former process left open");
    }
    let gateway = Arc::new(Gateway::new(settings, store).await?);
    let stopping = CancellationToken::new();
    let server = tokio::spawn(run(listener, routes::router(&gateway), stopping.clone()));
    shutdown.await;
    stopping.cancel();
    stop(&gateway, server).await
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
