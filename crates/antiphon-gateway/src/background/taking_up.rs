//! Jobs that processes left behind: at their death, at their stop, or because their store failed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::Jobs;
use crate::gateway::Gateway;
use crate::turn;

/// How often they are looked for; besides, whenever somebody asks for one.
const PERIOD: Duration = Duration::from_secs(10);

/// How many of them are worked on at once.
const AT_ONCE: usize = 64;

/// Takes them up, the oldest first, until the gateway stops.
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
