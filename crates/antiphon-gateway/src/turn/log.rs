//! The log of a background response's events: all that a turn in the background tells goes here.

use std::sync::Arc;
use std::time::Duration;

use antiphon_store::{LoggedEvent, ResponseId, Store, StoreError, Tenant};
use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::Told;
use super::channel::{EventReceiver, EventSender, channel};
use super::relay::Unwanted;
use crate::background::Job;
use crate::gateway::Gateway;

/// The first pause before what could not be written is written again. Each later one is twice as
/// long as the last.
const PAUSE: Duration = Duration::from_millis(10);
/// How often it is tried: for some seconds. As long as that, the upstream waits.
const ATTEMPTS: u32 = 9;

/// A log that is being written.
///
/// Events are written beside the turn, and what has come since the last write goes in one write.
/// What waits for it has the bound of a channel to a caller; beyond that, the upstream waits.
pub(super) struct EventLog {
    job: Arc<Job>,
    events: Option<EventSender>,
    /// How many events the log has, once all are written.
    written: oneshot::Receiver<Result<u64, StoreError>>,
    /// Cancelled when nothing more can be written.
    lost: CancellationToken,
}

impl EventLog {
    /// The log of a job, which has `told` events already.
    pub(super) fn begin(gateway: &Gateway, tenant: &Tenant, job: Arc<Job>, told: u64) -> Self {
        let (events, receiver) = channel();
        let (telling, written) = oneshot::channel();
        let lost = CancellationToken::new();
        let writer = Writer {
            store: Arc::clone(&gateway.store),
            tenant: tenant.clone(),
            job: Arc::clone(&job),
            next: told,
        };
        let cannot = lost.clone();
        let writing = async move {
            let outcome = writer.write_all(receiver).await;
            if outcome.is_err() {
                cannot.cancel();
            }
            drop(telling.send(outcome));
        };
        gateway.turns.spawn(writing.in_current_span());
        Self { job, events: Some(events), written, lost }
    }

    /// Adds an event. Waits while too much waits to be written; does nothing once the log is lost.
    pub(super) async fn send(&self, told: Told) {
        if let Some(events) = &self.events {
            // A writer that is gone has said why.
            let _ = events.send(told).await;
        }
    }

    /// Waits until nobody wants what is still to come.
    pub(super) async fn unwanted(&self) -> Unwanted {
        tokio::select! {
            () = self.job.cancelled() => Unwanted::Cancelled,
            () = self.lost.cancelled() => Unwanted::Left,
        }
    }

    /// Waits until all is written; says how many events the log has.
    pub(super) async fn finish(mut self) -> Result<u64, StoreError> {
        self.events = None;
        let closed = || StoreError::Unavailable("the log was not written to its end".into());
        self.written.await.unwrap_or_else(|_| Err(closed()))
    }
}

struct Writer {
    store: Arc<dyn Store>,
    tenant: Tenant,
    job: Arc<Job>,
    /// The number of the next event.
    next: u64,
}

impl Writer {
    async fn write_all(mut self, mut events: EventReceiver) -> Result<u64, StoreError> {
        while let Some(told) = events.recv_all().await {
            let bodies = told.into_iter().filter_map(Told::into_event).map(|event| event.data);
            let events = numbered(self.next, bodies);
            let count = events.len() as u64;
            self.write(events).await?;
            self.next += count;
            self.job.progressed();
        }
        Ok(self.next)
    }

    /// Writes, again where the store failed in passing.
    async fn write(&self, events: Vec<LoggedEvent>) -> Result<(), StoreError> {
        let mut pause = PAUSE;
        for _ in 1..ATTEMPTS {
            match append(&*self.store, &self.tenant, self.job.id(), events.clone()).await {
                Err(error) if error.is_outage() => {
                    tracing::warn!(%error, "events of a background response are not written yet");
                }
                outcome => return outcome,
            }
            sleep(pause).await;
            pause *= 2;
        }
        append(&*self.store, &self.tenant, self.job.id(), events).await
    }
}

async fn append(
    store: &dyn Store,
    tenant: &Tenant,
    id: &ResponseId,
    events: Vec<LoggedEvent>,
) -> Result<(), StoreError> {
    store.background().append(tenant, id, events).await
}

/// Events with their numbers, the first of which is `from`.
pub(super) fn numbered(from: u64, bodies: impl Iterator<Item = Bytes>) -> Vec<LoggedEvent> {
    let numbered = (from..).zip(bodies);
    numbered.map(|(sequence_number, body)| LoggedEvent { sequence_number, body }).collect()
}
