//! The event log of a background response. It receives all events of the turn.

use std::sync::Arc;
use std::time::Duration;

use antiphon_store::{LoggedEvent, ResponseId, Store, StoreError, Tenant};
use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::cancel::CancelReason;
use super::channel::{EventReceiver, EventSender, OutgoingEvent, channel};
use crate::gateway::Gateway;
use crate::jobs::Job;

/// The pause before a failed write is repeated. Each later pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// How often a write is attempted. The upstream waits for these few seconds.
const ATTEMPTS: u32 = 9;

/// A log that is being written.
///
/// A separate task writes the events and combines all that arrived since its last write. The number
/// of bytes that wait is limited as in a channel to a client; beyond that, the upstream waits.
pub(super) struct EventLog {
    job: Arc<Job>,
    events: Option<EventSender>,
    /// The final number of events in the log.
    written: oneshot::Receiver<Result<u64, StoreError>>,
    /// Cancelled when nothing more can be written.
    lost: CancellationToken,
}

impl EventLog {
    /// Opens the log of a job that has `logged` events already.
    pub(super) fn open(gateway: &Gateway, tenant: &Tenant, job: Arc<Job>, logged: u64) -> Self {
        let (events, receiver) = channel();
        let (outcome, written) = oneshot::channel();
        let lost = CancellationToken::new();
        let writer = Writer {
            store: Arc::clone(&gateway.store),
            tenant: tenant.clone(),
            job: Arc::clone(&job),
            next: logged,
        };
        let failed = lost.clone();
        let writing = async move {
            let result = writer.write_all(receiver).await;
            if result.is_err() {
                failed.cancel();
            }
            drop(outcome.send(result));
        };
        gateway.turns.spawn(writing.in_current_span());
        Self { job, events: Some(events), written, lost }
    }

    /// Adds events. Waits if too many bytes are pending; does nothing after the log has failed.
    pub(super) async fn send(&self, events: Vec<OutgoingEvent>) {
        if let Some(channel) = &self.events {
            // A writer that has stopped has reported its error.
            let _ = channel.send(events).await;
        }
    }

    /// Waits until the turn is cancelled or its log has failed.
    pub(super) async fn cancelled(&self) -> CancelReason {
        tokio::select! {
            () = self.job.cancelled() => CancelReason::Cancelled,
            () = self.lost.cancelled() => CancelReason::Disconnected,
        }
    }

    /// Waits until all events are written and returns the number of events in the log.
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
        while let Some(received) = events.recv().await {
            let bodies = received.into_iter().filter_map(OutgoingEvent::into_event);
            let events = number_events(self.next, bodies.map(|event| event.data));
            let count = events.len() as u64;
            self.write(events).await?;
            self.next += count;
            self.job.notify_readers();
        }
        Ok(self.next)
    }

    /// Writes events, and repeats the write if the store is briefly unavailable.
    async fn write(&self, events: Vec<LoggedEvent>) -> Result<(), StoreError> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..ATTEMPTS {
            match append(&*self.store, &self.tenant, self.job.id(), events.clone()).await {
                Err(error) if error.is_outage() => {
                    tracing::warn!(%error, "could not log background events; retrying");
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
    store.background_jobs().append(tenant, id, events).await
}

/// Numbers events, starting with `first`.
pub(super) fn number_events(first: u64, bodies: impl Iterator<Item = Bytes>) -> Vec<LoggedEvent> {
    let numbered = (first..).zip(bodies);
    numbered.map(|(sequence_number, body)| LoggedEvent { sequence_number, body }).collect()
}
