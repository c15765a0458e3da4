//! Jobs of this process that others cancel.

use antiphon_store::Store;

use super::{Jobs, POLL};

/// Looks for them from time to time, for ever. In a store of one process nobody else cancels.
pub(crate) async fn heed(jobs: &Jobs, store: &dyn Store) {
    if store.line().is_none() {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(POLL).await;
        if jobs.is_empty() {
            continue;
        }
        match store.background().cancelled().await {
            Ok(cancelled) => cancelled.iter().for_each(|(tenant, id)| jobs.cancel(tenant, id)),
            Err(error) => tracing::warn!(%error, "what others cancelled could not be looked for"),
        }
    }
}
