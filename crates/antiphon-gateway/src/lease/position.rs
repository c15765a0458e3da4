//! The queue for a conversation, shared with other processes.

use std::sync::Arc;
use std::time::Duration;

use antiphon_store::{ConversationId, LeaseQueue, QueuePlace, Store, StoreError, Tenant};
use tokio::runtime::Handle;
use tokio::sync::OwnedRwLockWriteGuard;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::queues::LeaseQueues;
use super::{Leases, Result};
use crate::retry::retry_in_background;

/// The first and the longest interval between checks of the queue.
const POLL_DELAYS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));

/// A position in a queue.
pub(super) struct QueuePosition {
    store: Arc<dyn Store>,
    tenant: Tenant,
    id: ConversationId,
    place: QueuePlace,
    tasks: TaskTracker,
}

impl QueuePosition {
    /// Joins the queue and waits for the first position. Returns `None` if the deadline passes or
    /// the waiter cancels.
    pub(super) async fn wait_in_queue(
        leases: &Leases,
        tenant: Tenant,
        id: ConversationId,
        deadline: Option<Instant>,
        cancelled: &CancellationToken,
    ) -> Result<Option<Self>> {
        let (store, tasks) = (leases.store.clone(), leases.tasks.clone());
        let place = queue(&*store)?.join(&tenant, &id).await?;
        let mut held = Self { store, tenant, id, place, tasks };
        match held.wait(&leases.queues, deadline, cancelled).await {
            Ok(true) => Ok(Some(held)),
            outcome => {
                held.leave_in_background(None);
                outcome.map(|_| None)
            }
        }
    }

    async fn wait(
        &mut self,
        queues: &LeaseQueues,
        deadline: Option<Instant>,
        cancelled: &CancellationToken,
    ) -> Result<bool> {
        let mut delays = PollDelays::with_deadline(deadline);
        let mut waiting = None;
        loop {
            let queue = queue(&*self.store)?;
            match queue.is_first(&self.tenant, &self.id, self.place).await {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                // The store treated this process as dead and removed its position. It queues again
                // at the end.
                Err(StoreError::LeaseLost) => {
                    self.place = queue.join(&self.tenant, &self.id).await?;
                }
                Err(error) => return Err(error),
            }
            waiting.get_or_insert_with(|| queues.count_wait());
            if !delays.wait().await || cancelled.is_cancelled() {
                return Ok(false);
            }
        }
    }

    pub(super) fn place(&self) -> QueuePlace {
        self.place
    }

    /// Gives up the position in a separate task, and then drops the guard `until`.
    pub(super) fn leave_in_background(self, until: Option<OwnedRwLockWriteGuard<()>>) {
        // Without a runtime the process is shutting down, and its positions expire.
        if let Ok(runtime) = Handle::try_current() {
            let tasks = self.tasks.clone();
            tasks.spawn_on(
                async move {
                    self.leave_with_retries().await;
                    drop(until);
                },
                &runtime,
            );
        }
    }

    async fn leave_with_retries(&self) {
        retry_in_background("leave the queue of a conversation", || self.leave_now()).await;
    }

    /// Gives up the position, with one attempt.
    pub(super) async fn leave_now(&self) -> Result<()> {
        queue(&*self.store)?.leave(&self.tenant, &self.id, self.place).await
    }
}

fn queue(store: &dyn Store) -> Result<&dyn LeaseQueue> {
    store
        .lease_queue()
        .ok_or_else(|| StoreError::Unavailable("the store has no lease queue".into()))
}

/// Increasing intervals between checks of the store. Each interval is twice as long as the one
/// before.
pub(super) struct PollDelays {
    next: Duration,
    deadline: Option<Instant>,
}

impl PollDelays {
    /// Intervals until the deadline. `None` means no deadline.
    pub(super) fn with_deadline(deadline: Option<Instant>) -> Self {
        Self { next: POLL_DELAYS.0, deadline }
    }

    /// Waits for the next check. Returns `false` at the deadline.
    pub(super) async fn wait(&mut self) -> bool {
        let left = self.deadline.map(|deadline| deadline.duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            return false;
        }
        sleep(left.map_or(self.next, |left| left.min(self.next))).await;
        self.next = (self.next * 2).min(POLL_DELAYS.1);
        true
    }
}
