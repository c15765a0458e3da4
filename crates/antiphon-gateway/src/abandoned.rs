//! Turns that other processes left open when they died.

use std::time::Duration;

use antiphon_store::Store;

/// How often they are looked for.
const PERIOD: Duration = Duration::from_secs(10);

/// Settles them from time to time, for ever. A store of one process has none: what its former
/// process left was settled at the start.
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
