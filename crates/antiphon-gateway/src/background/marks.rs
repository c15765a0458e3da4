//! Cancels jobs of this process that another process marked as cancelled, or that were marked while
//! this process was resuming them.

use antiphon_store::Store;

use super::{Jobs, POLL};

/// Looks for cancelled jobs periodically, and never returns.
pub(crate) async fn heed(jobs: &Jobs, store: &dyn Store) {
    loop {
        tokio::time::sleep(POLL).await;
        if jobs.is_empty() {
            continue;
        }
        match store.background().cancelled().await {
            Ok(cancelled) => cancelled.iter().for_each(|(tenant, id)| jobs.cancel(tenant, id)),
            Err(error) => tracing::warn!(%error, "what was cancelled could not be looked for"),
        }
    }
}
