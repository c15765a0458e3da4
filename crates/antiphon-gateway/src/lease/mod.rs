//! Leases: each conversation has at most one open turn, and other turns queue for it.
//!
//! An open turn also locks its own response, so that a turn that continues this response waits for
//! the end. Each turn is registered under its request, so that a retry of the request waits for the
//! first attempt.

mod line;
mod turnstile;

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

use self::line::{Held, Pauses};
use self::turnstile::LeaseQueues;
use crate::request::Again;

type Result<T> = std::result::Result<T, StoreError>;

/// The leases of this process, and its positions in the shared queues.
#[derive(Clone)]
pub(crate) struct Leases {
    turnstiles: Arc<LeaseQueues>,
    store: Arc<dyn Store>,
    /// The tasks that give up positions run here, so that a shutdown waits for them.
    tasks: TaskTracker,
    /// The maximum wait for a lease.
    wait: Duration,
}

/// The exclusive right to run a turn of a conversation, until it is dropped.
pub(crate) struct Lease {
    place: Option<Held>,
    alone: Option<OwnedRwLockWriteGuard<()>>,
}

/// A registered turn of a request, until it is dropped.
pub(crate) struct Underway {
    _among: OwnedRwLockReadGuard<()>,
    /// For a request with a key in a shared store: the lock across all processes.
    _alone: Option<Lease>,
}

/// The lock on the response of an open turn, until it is dropped.
pub(crate) struct OpenResponse {
    _alone: OwnedRwLockWriteGuard<()>,
}

impl Leases {
    pub(crate) fn new(store: Arc<dyn Store>, tasks: TaskTracker, wait: Duration) -> Self {
        Self { turnstiles: Arc::default(), store, tasks, wait }
    }

    /// The same leases with another maximum wait.
    pub(crate) fn waiting(&self, wait: Duration) -> Self {
        Self { wait, ..self.clone() }
    }

    /// Waits for the conversation: first for the earlier turns of this process, then, in a shared
    /// store, for those of other processes. Returns `None` if another turn still holds it after the
    /// wait.
    ///
    /// If the future is dropped, a separate task gives up the position.
    pub(crate) async fn conversation(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
    ) -> Result<Option<Lease>> {
        let (leases, tenant, id) = (self.clone(), tenant.clone(), id.clone());
        let left = CancellationToken::new();
        let _waiting = left.clone().drop_guard();
        let waiting = async move { leases.stand_in_line(tenant, id, left).await };
        let waiting = self.tasks.spawn(waiting.in_current_span());
        waiting.await.unwrap_or_else(|error| Err(StoreError::Unavailable(error.to_string())))
    }

    async fn stand_in_line(
        self,
        tenant: Tenant,
        id: ConversationId,
        left: CancellationToken,
    ) -> Result<Option<Lease>> {
        let deadline = Instant::now().checked_add(self.wait);
        let alone = tokio::select! {
            alone = self.turnstiles.alone(&tenant, id.as_str(), self.wait) => alone,
            () = left.cancelled() => None,
        };
        let Some(alone) = alone else { return Ok(None) };
        if self.store.lease_queue().is_none() {
            return Ok(Some(Lease { place: None, alone: Some(alone) }));
        }
        let place = Held::first_in_line(&self, tenant, id, deadline, &left).await?;
        Ok(place.map(|place| Lease { place: Some(place), alone: Some(alone) }))
    }

    /// Locks the response of a turn that opens in this process.
    pub(crate) async fn open_response(
        &self,
        tenant: &Tenant,
        id: &ResponseId,
    ) -> Option<OpenResponse> {
        let alone = self.turnstiles.alone(tenant, id.as_str(), self.wait).await?;
        Some(OpenResponse { _alone: alone })
    }

    /// Waits for the end of a response's turn in this process. Returns `false` if it is still open
    /// after the wait.
    pub(crate) async fn response_ended_here(&self, tenant: &Tenant, id: &ResponseId) -> bool {
        self.turnstiles.alone(tenant, id.as_str(), self.wait).await.is_some()
    }

    /// Waits for the end of a response's turn in any process. Returns `false` if it is still open
    /// after the wait.
    pub(crate) async fn response_ended(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
        let deadline = Instant::now().checked_add(self.wait);
        if !self.response_ended_here(tenant, id).await {
            return Ok(false);
        }
        let mut pauses = Pauses::until(deadline);
        while self.store.is_open(tenant, id).await? {
            if !pauses.next().await {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Registers a turn of this request. A turn that may be a retry waits until the other turns of
    /// the request have ended. Returns `None` if one is still open after the wait.
    pub(crate) async fn underway(
        &self,
        tenant: &Tenant,
        request: &RequestDigest,
        again: Again,
    ) -> Result<Option<Underway>> {
        let name = format!("{:032x}", u128::from_be_bytes(request.0));
        let among = match again {
            Again::No => self.turnstiles.among(tenant, &name, self.wait).await,
            Again::Counted | Again::Keyed => {
                let alone = self.turnstiles.alone(tenant, &name, self.wait).await;
                alone.map(OwnedRwLockWriteGuard::downgrade)
            }
        };
        let Some(among) = among else { return Ok(None) };
        if again != Again::Keyed || self.store.lease_queue().is_none() {
            return Ok(Some(Underway { _among: among, _alone: None }));
        }
        let alone = self.conversation(tenant, &line_of(request)).await?;
        Ok(alone.map(|alone| Underway { _among: among, _alone: Some(alone) }))
    }
}

/// The queue of a request. Its id has the form of a conversation id, but no conversation has this
/// id, because it is derived from a keyed digest.
fn line_of(request: &RequestDigest) -> ConversationId {
    let (Shard(shard), digest) = (request.shard(), u128::from_be_bytes(request.0));
    let id = ConversationId::parse(&format!("conv_{shard:016x}{digest:032x}"));
    id.expect("an id is 48 hexadecimal digits")
}

impl Lease {
    /// The queue position under which the turn commits.
    pub(crate) fn place(&self) -> Option<QueuePlace> {
        self.place.as_ref().map(Held::place)
    }

    /// Gives up the lease before this returns, so that a client that sees the end of the turn can
    /// send the next one at once. If the store fails, a background task gives it up later.
    pub(crate) async fn release(mut self) {
        if let Some(place) = self.place.take() {
            let alone = self.alone.take();
            if place.leave_now().await.is_err() {
                place.give_up(alone);
            }
        }
    }
}

/// The next turn of this process starts after the position is given up, because other processes may
/// be ahead of it.
impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            place.give_up(self.alone.take());
        }
    }
}

#[cfg(test)]
mod tests;
