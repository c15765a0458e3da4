//! Settles turns that other processes left open when they died.

use std::time::Duration;

use antiphon_store::Store;

/// The interval between searches.
const PERIOD: Duration = Duration::from_secs(10);

/// Settles abandoned turns periodically, and never returns. A store of one process has none,
/// because the turns of its previous process were settled at startup.
pub(crate) async fn settle(store: &dyn Store) {
    if store.line().is_none() {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(PERIOD).await;
        match store.settle_openings().await {
            Ok(0) => {}
            Ok(settled) => tracing::info!(settled, "settled turns that a process left open"),
            Err(error) => tracing::warn!(%error, "turns left open could not be settled"),
        }
    }
}
