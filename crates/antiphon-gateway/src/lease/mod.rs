//! Leases: each conversation has at most one open turn, and other turns queue for it.
//!
//! An open turn also locks its own response, so that a turn that continues this response waits for
//! the end. Each turn is registered under its request, so that a retry of the request waits for the
//! first attempt.

mod position;
mod queues;

use std::sync::Arc;
use std::time::Duration;

use antiphon_store::{
    ConversationId, QueuePlace, RequestDigest, ResponseId, Shard, Store, StoreError, Tenant,
};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use self::position::{PollDelays, QueuePosition};
use self::queues::LeaseQueues;
use crate::metrics::QueueMetrics;
use crate::request::RetryEvidence;

type Result<T> = std::result::Result<T, StoreError>;

/// The leases of this process, and its positions in the shared queues.
#[derive(Clone)]
pub(crate) struct Leases {
    queues: Arc<LeaseQueues>,
    store: Arc<dyn Store>,
    /// The tasks that give up positions run here, so that a shutdown waits for them.
    tasks: TaskTracker,
    /// The maximum wait for a lease.
    wait: Duration,
}

/// The exclusive right to run a turn of a conversation, until it is dropped.
pub(crate) struct Lease {
    position: Option<QueuePosition>,
    lock: Option<OwnedRwLockWriteGuard<()>>,
}

/// A registered turn of a request, until it is dropped.
pub(crate) struct RequestRegistration {
    _shared: OwnedRwLockReadGuard<()>,
    /// For a request with a key in a shared store: the lock across all processes.
    _lock: Option<Lease>,
}

/// The lock on the response of an open turn, until it is dropped.
pub(crate) struct ResponseLock {
    _lock: OwnedRwLockWriteGuard<()>,
}

impl Leases {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        tasks: TaskTracker,
        wait: Duration,
        metrics: QueueMetrics,
    ) -> Self {
        Self { queues: Arc::new(LeaseQueues::new(metrics)), store, tasks, wait }
    }

    /// The same leases with another maximum wait.
    pub(crate) fn with_wait(&self, wait: Duration) -> Self {
        Self { wait, ..self.clone() }
    }

    /// Waits for the conversation: first for the earlier turns of this process, then, in a shared
    /// store, for those of other processes. Returns `None` if another turn still holds it after the
    /// wait.
    ///
    /// If the future is dropped, a separate task gives up the position.
    pub(crate) async fn lease_conversation(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
    ) -> Result<Option<Lease>> {
        let (leases, tenant, id) = (self.clone(), tenant.clone(), id.clone());
        let cancelled = CancellationToken::new();
        let _waiting = cancelled.clone().drop_guard();
        let waiting = async move { leases.queue_for_conversation(tenant, id, cancelled).await };
        let waiting = self.tasks.spawn(waiting.in_current_span());
        waiting.await.unwrap_or_else(|error| Err(StoreError::Unavailable(error.to_string())))
    }

    async fn queue_for_conversation(
        self,
        tenant: Tenant,
        id: ConversationId,
        cancelled: CancellationToken,
    ) -> Result<Option<Lease>> {
        let deadline = Instant::now().checked_add(self.wait);
        let lock = tokio::select! {
            lock = self.queues.lock_exclusive(&tenant, id.as_str(), self.wait) => lock,
            () = cancelled.cancelled() => None,
        };
        let Some(lock) = lock else { return Ok(None) };
        if self.store.lease_queue().is_none() {
            return Ok(Some(Lease { position: None, lock: Some(lock) }));
        }
        let position =
            QueuePosition::wait_in_queue(&self, tenant, id, deadline, &cancelled).await?;
        Ok(position.map(|position| Lease { position: Some(position), lock: Some(lock) }))
    }

    /// The number of turns of this process that hold or wait for the conversation, less one.
    pub(crate) fn count_waiting(&self, tenant: &Tenant, id: &ConversationId) -> usize {
        self.queues.count_users(tenant, id.as_str()).saturating_sub(1)
    }

    /// Locks the response of a turn that opens in this process.
    pub(crate) async fn lock_response(
        &self,
        tenant: &Tenant,
        id: &ResponseId,
    ) -> Option<ResponseLock> {
        let lock = self.queues.lock_exclusive(tenant, id.as_str(), self.wait).await?;
        Some(ResponseLock { _lock: lock })
    }

    /// Waits for the end of a response's turn in this process. Returns `false` if it is still open
    /// after the wait.
    pub(crate) async fn wait_for_response_here(&self, tenant: &Tenant, id: &ResponseId) -> bool {
        self.queues.lock_exclusive(tenant, id.as_str(), self.wait).await.is_some()
    }

    /// Waits for the end of a response's turn in any process. Returns `false` if it is still open
    /// after the wait.
    pub(crate) async fn wait_for_response(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
        let deadline = Instant::now().checked_add(self.wait);
        if !self.wait_for_response_here(tenant, id).await {
            return Ok(false);
        }
        let mut delays = PollDelays::with_deadline(deadline);
        while self.store.is_open(tenant, id).await? {
            if !delays.wait().await {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Registers a turn of this request. A turn that may be a retry waits until the other turns of
    /// the request have ended. Returns `None` if one is still open after the wait.
    pub(crate) async fn register_request(
        &self,
        tenant: &Tenant,
        request: &RequestDigest,
        evidence: RetryEvidence,
    ) -> Result<Option<RequestRegistration>> {
        let name = format!("{:032x}", u128::from_be_bytes(request.0));
        let shared = match evidence {
            RetryEvidence::None => self.queues.lock_shared(tenant, &name, self.wait).await,
            RetryEvidence::RetryCount | RetryEvidence::IdempotencyKey => {
                let lock = self.queues.lock_exclusive(tenant, &name, self.wait).await;
                lock.map(OwnedRwLockWriteGuard::downgrade)
            }
        };
        let Some(shared) = shared else { return Ok(None) };
        if evidence != RetryEvidence::IdempotencyKey || self.store.lease_queue().is_none() {
            return Ok(Some(RequestRegistration { _shared: shared, _lock: None }));
        }
        let lock = self.lease_conversation(tenant, &request_queue_id(request)).await?;
        Ok(lock.map(|lock| RequestRegistration { _shared: shared, _lock: Some(lock) }))
    }
}

/// The queue of a request. Its id has the form of a conversation id, but no conversation has this
/// id, because it is derived from a keyed digest.
fn request_queue_id(request: &RequestDigest) -> ConversationId {
    let (Shard(shard), digest) = (request.shard(), u128::from_be_bytes(request.0));
    let id = ConversationId::parse(&format!("conv_{shard:016x}{digest:032x}"));
    id.expect("an id is 48 hexadecimal digits")
}

impl Lease {
    /// The queue position under which the turn commits.
    pub(crate) fn place(&self) -> Option<QueuePlace> {
        self.position.as_ref().map(QueuePosition::place)
    }

    /// Gives up the lease before this returns, so that a client that sees the end of the turn can
    /// send the next one at once. If the store fails, a background task gives it up later.
    pub(crate) async fn release(mut self) {
        if let Some(position) = self.position.take() {
            let lock = self.lock.take();
            if position.leave_now().await.is_err() {
                position.leave_in_background(lock);
            }
        }
    }
}

/// The next turn of this process starts after the position is given up, because other processes may
/// be ahead of it.
impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(position) = self.position.take() {
            position.leave_in_background(self.lock.take());
        }
    }
}

#[cfg(test)]
mod tests;
