//! Resumes jobs that a process abandoned when it died, stopped, or lost its store.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::Jobs;
use crate::gateway::Gateway;
use crate::turn;

/// The interval between searches. A request for an abandoned job starts a search at once.
const PERIOD: Duration = Duration::from_secs(10);

/// The maximum number of resumed jobs that run at once.
const AT_ONCE: usize = 64;

/// Resumes abandoned jobs, the oldest first, until the gateway stops.
pub(crate) async fn take_up(gateway: &Arc<Gateway>) {
    let room = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        let permit = Arc::clone(&room).acquire_owned().await.expect("it is never closed");
        match gateway.store.background().take_up().await {
            Ok(Some(job)) => {
                let (gateway, turns) = (Arc::clone(gateway), &gateway.turns);
                turns.spawn(async move {
                    turn::resume(&gateway, job).await;
                    drop(permit);
                });
            }
            Ok(None) => gateway.jobs.left_or_later().await,
            Err(error) => {
                tracing::warn!(%error, "what was left behind could not be looked for");
                gateway.jobs.left_or_later().await;
            }
        }
    }
}

impl Jobs {
    async fn left_or_later(&self) {
        drop(tokio::time::timeout(PERIOD, self.0.left.notified()).await);
    }
}
