//! Resumes jobs that a process abandoned when it died, stopped, or lost its store.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::gateway::Gateway;
use crate::turn;

/// The interval between searches. A request for an abandoned job starts a search at once.
const PERIOD: Duration = Duration::from_secs(10);

/// The maximum number of resumed jobs that run at once.
const MAX_RESUMED: usize = 64;

/// Resumes abandoned jobs, the oldest first, until the gateway stops.
pub(crate) async fn resume_abandoned(gateway: &Arc<Gateway>) {
    let room = Arc::new(Semaphore::new(MAX_RESUMED));
    loop {
        let permit =
            Arc::clone(&room).acquire_owned().await.expect("the semaphore is never closed");
        match gateway.store.background_jobs().claim_next().await {
            Ok(Some(job)) => {
                let (gateway, turns) = (Arc::clone(gateway), &gateway.turns);
                turns.spawn(async move {
                    turn::resume(&gateway, job).await;
                    drop(permit);
                });
            }
            Ok(None) => gateway.jobs.wait_for_search(PERIOD).await,
            Err(error) => {
                tracing::warn!(
                    %error,
                    "could not look for abandoned background responses; trying again"
                );
                gateway.jobs.wait_for_search(PERIOD).await;
            }
        }
    }
}
