//! Jobs of this process that are cancelled where they are not known: by other processes, or while
//! they are taken up.

use antiphon_store::Store;

use super::{Jobs, POLL};

/// Looks for them from time to time, for ever.
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
