//! Who may work on what: one open turn per conversation, the others in line. An open turn also holds
//! its own response, so that whoever goes on from it waits for its end, and is counted among the turns
//! of its request, so that the same request made again waits for the first.

mod line;
mod turnstile;

use std::sync::Arc;
use std::time::Duration;

use antiphon_store::{
    ConversationId, Place, RequestDigest, ResponseId, Shard, Store, StoreError, Tenant,
};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use self::line::{Held, Pauses};
use self::turnstile::Turnstiles;
use crate::request::Again;

type Result<T> = std::result::Result<T, StoreError>;

/// The leases of this process, and its places in the lines that it shares with others.
#[derive(Clone)]
pub(crate) struct Leases {
    turnstiles: Arc<Turnstiles>,
    store: Arc<dyn Store>,
    /// What gives places up runs here, so that a stop waits for it.
    tasks: TaskTracker,
    /// How long anybody waits.
    wait: Duration,
}

/// The right to be the one open turn of a conversation, until it is dropped.
pub(crate) struct Lease {
    place: Option<Held>,
    alone: Option<OwnedRwLockWriteGuard<()>>,
}

/// A turn among those of its request, until it is dropped.
pub(crate) struct Underway {
    _among: OwnedRwLockReadGuard<()>,
    /// Where the request has a key and others share the store: the one turn of the request anywhere.
    _alone: Option<Lease>,
}

/// The response of an open turn, until it is dropped.
pub(crate) struct OpenResponse {
    _alone: OwnedRwLockWriteGuard<()>,
}

impl Leases {
    pub(crate) fn new(store: Arc<dyn Store>, tasks: TaskTracker, wait: Duration) -> Self {
        Self { turnstiles: Arc::default(), store, tasks, wait }
    }

    /// The same, waiting this long.
    pub(crate) fn waiting(&self, wait: Duration) -> Self {
        Self { wait, ..self.clone() }
    }

    /// Waits for the conversation: first for the turns of this process that came before, then, where
    /// others share the store, for theirs. `None` where another turn still holds it after the wait.
    ///
    /// Whoever stops waiting gives up its place, in a task of its own.
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
        if self.store.line().is_none() {
            return Ok(Some(Lease { place: None, alone: Some(alone) }));
        }
        let place = Held::first_in_line(&self, tenant, id, deadline, &left).await?;
        Ok(place.map(|place| Lease { place: Some(place), alone: Some(alone) }))
    }

    /// Marks the response of a turn that opens here.
    pub(crate) async fn open_response(
        &self,
        tenant: &Tenant,
        id: &ResponseId,
    ) -> Option<OpenResponse> {
        let alone = self.turnstiles.alone(tenant, id.as_str(), self.wait).await?;
        Some(OpenResponse { _alone: alone })
    }

    /// Waits for the end of a response's turn that runs in this process; `false` where it is still
    /// open after the wait.
    pub(crate) async fn response_ended_here(&self, tenant: &Tenant, id: &ResponseId) -> bool {
        self.turnstiles.alone(tenant, id.as_str(), self.wait).await.is_some()
    }

    /// Waits for the end of a response's turn, in this process and in any other; `false` where it is
    /// still open after the wait.
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

    /// Enters a turn of this request. One that may be the request of another, made again, waits until
    /// those have ended; `None` where one is still open after the wait.
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
        if again != Again::Keyed || self.store.line().is_none() {
            return Ok(Some(Underway { _among: among, _alone: None }));
        }
        let alone = self.conversation(tenant, &line_of(request)).await?;
        Ok(alone.map(|alone| Underway { _among: among, _alone: Some(alone) }))
    }
}

/// The line of a request: that of a conversation which nobody has, since its id follows from a keyed
/// digest.
fn line_of(request: &RequestDigest) -> ConversationId {
    let (Shard(shard), digest) = (request.shard(), u128::from_be_bytes(request.0));
    let id = ConversationId::parse(&format!("conv_{shard:016x}{digest:032x}"));
    id.expect("an id is 48 hexadecimal digits")
}

impl Lease {
    /// The place that what is done under this lease is committed from.
    pub(crate) fn place(&self) -> Option<Place> {
        self.place.as_ref().map(Held::place)
    }

    /// Gives it up before this returns: who then learns of the turn's end may come back at once.
    /// Where the store fails, it is given up later.
    pub(crate) async fn release(mut self) {
        if let Some(place) = self.place.take() {
            let alone = self.alone.take();
            if place.leave_now().await.is_err() {
                place.give_up(alone);
            }
        }
    }
}

/// The next of this process is let in once the place is given up: others stand before it.
impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            place.give_up(self.alone.take());
        }
    }
}

#[cfg(test)]
mod tests;
