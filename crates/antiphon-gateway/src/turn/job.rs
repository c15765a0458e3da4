//! Runs a background turn to its end, or until this process cannot continue it.

use std::sync::Arc;

use antiphon::stream::{Event, Status};
use antiphon_store::{Destination, LoggedEvent, StoreError, TurnRecord};
use futures_util::future::BoxFuture;
use tracing::Instrument as _;

use super::cancel::CancelReason;
use super::client::Client;
use super::commit::{EndedTurn, TurnResult, output_items};
use super::compact::learn_from_answer;
use super::context::Turn;
use super::detached::{DetachedTurn, EndReason};
use super::finished::{TurnEnd, record_answer};
use super::log::EventLog;
use super::open::{Opened, OpenedTurn};
use super::plan::PlannedTurn;
use super::prior_attempt::CutAttempts;
use super::reader::Outcome;
use super::sending::SendingTurn;
use super::streaming::StreamingTurn;
use crate::entropy::unix_now;
use crate::error::ApiError;
use crate::jobs::{Job, log_expiry};
use crate::limits::TurnPermit;
use crate::retry::retry_in_background;
use crate::span::Stage;

/// The number of events before the first output event: created, queued and in progress.
pub(super) const EVENTS_BEFORE_OUTPUT: u64 = 3;

/// A turn that is being planned.
pub(super) type Planning<'a> = BoxFuture<'a, Result<PlannedTurn<'a>, ApiError>>;

/// A background turn that this process runs. If the turn panics, its job is released and can be
/// resumed.
pub(super) struct RunningJob<'a> {
    turn: &'a Turn<'a>,
    job: Arc<Job>,
    /// The number of events in the log before the turn runs.
    logged: u64,
}

/// Opens the turn, in the order of arrival, and plans it.
pub(super) async fn open_and_plan<'a>(turn: &'a Turn<'a>) -> Result<PlannedTurn<'a>, ApiError> {
    let stage = turn.stage(Stage::Open);
    let opened = stage.close(OpenedTurn::open(turn).await)?;
    PlannedTurn::plan(opened, &CutAttempts::default()).await
}

impl<'a> RunningJob<'a> {
    pub(super) fn new(turn: &'a Turn<'a>, job: Job, logged: u64) -> Self {
        Self { turn, job: Arc::new(job), logged }
    }

    /// Runs the turn.
    pub(super) async fn run(self, planning: Planning<'a>, permit: Option<TurnPermit>) {
        let planned = tokio::select! {
            biased;
            planned = planning => planned.map_err(|error| EndReason::Failed(error.as_failure())),
            () = self.job.cancelled() => Err(EndReason::Cancelled),
            () = self.turn.gateway.stopping.cancelled() => return self.release(),
        };
        match planned {
            Ok(planned) => Box::pin(self.send_and_relay(planned, permit)).await,
            Err(reason) => {
                drop(permit);
                self.end_detached(reason, self.logged).await;
            }
        }
    }

    /// Ends the turn without running it.
    pub(super) async fn end(self, reason: EndReason) {
        self.end_detached(reason, self.logged).await;
    }
}

impl RunningJob<'_> {
    async fn send_and_relay(&self, planned: PlannedTurn<'_>, permit: Option<TurnPermit>) {
        if self.protect_history(&planned.opened).await.is_err() {
            planned.opened.close().await;
            return self.release();
        }
        let (gateway, tenant) = (self.turn.gateway, &self.turn.caller.tenant);
        let log = EventLog::open(gateway, tenant, self.job.clone(), self.logged);
        let mut client = Client::from_log(log, gateway.closing.clone(), permit);
        let mut sending = SendingTurn::new(planned);
        sending.reader().starting_after(self.logged).start(&mut client).await;
        let stage = self.turn.stage(Stage::Send);
        let reply = stage.close(sending.send(&mut client).await);
        // Whether the history was compacted is known only now. The response then begins with the
        // compaction.
        let reader = sending.reader().starting_after(self.logged.max(EVENTS_BEFORE_OUTPUT));
        let streaming = Box::new(StreamingTurn::new(sending, reader));
        let ended = match reply {
            Ok(reply) => Box::pin(streaming.relay(reply, &mut client)).await,
            Err(error) => streaming.end_unanswered(error, &mut client).await,
        };
        self.commit(ended, client).await;
    }

    /// Keeps the items that the turn continues from being swept before its end. The items of a
    /// conversation are never swept.
    async fn protect_history(&self, opened: &Opened) -> Result<(), StoreError> {
        let (Destination::After { .. }, Some(cursor)) = (&opened.destination, opened.cursor) else {
            return Ok(());
        };
        let (store, tenant) = (self.turn.gateway.store.background_jobs(), &self.turn.caller.tenant);
        store.set_cursor(tenant, self.job.id(), cursor).await
    }

    /// Commits the result of the turn after all events but the last are in the log.
    async fn commit(&self, ended: EndedTurn<'_>, client: Client) {
        let EndedTurn { turn, opened, plan, outcome, chat, .. } = ended;
        turn.clock.mark_answered();
        let assembler = match outcome {
            Outcome::Ended(assembler) | Outcome::ConversationDeleted(assembler) => Some(assembler),
            Outcome::Disconnected(_) => None,
        };
        let log = client.into_log().expect("the client of a job is its log");
        let (Some(assembler), Ok(logged)) = (assembler, log.finish().await) else {
            chat.fail(CancelReason::Disconnected.name());
            opened.close().await;
            return self.release();
        };
        let finished = assembler.finish(unix_now());
        record_answer(&chat, &finished);
        learn_from_answer(turn, &plan, &finished);
        let fresh = plan.fresh().to_vec();
        let report = turn.with_answer(plan.report, &finished);
        let destination = match finished.status {
            Status::Failed | Status::Cancelled => opened.destination_apart(),
            Status::Completed | Status::Incomplete => opened.destination.clone(),
        };
        let output = output_items(turn.gateway.fingerprint_key, &finished, &plan.origin);
        let result = TurnResult { fresh, output, report: &report, finished: &finished };
        let record = result.record(turn, &opened, destination);
        let end = (finished.status, finished.event.clone());
        let stage = turn.stage(Stage::Commit);
        let committed = self.commit_end(record, logged, end).await;
        drop(stage);
        let failure = committed.as_ref().err().map(|error| ApiError::from(error.clone()));
        let response = failure.is_none().then(|| self.job.id().as_str());
        let not_stored = failure.as_ref();
        let end = TurnEnd::Answered { finished: &finished, is_disconnected: false, not_stored };
        turn.finished(end).with_report(&report).with_response(response).publish();
        opened.close().await;
        match committed {
            Ok(()) => {}
            Err(error) if error.is_outage() => self.release(),
            Err(error) => {
                let reason = EndReason::Failed(ApiError::from(error).as_failure());
                self.store_detached(reason, logged).await;
            }
        }
    }

    /// Ends the turn without output and stores its input outside the conversation.
    async fn end_detached(&self, reason: EndReason, logged: u64) {
        if let Some(status) = self.store_detached(reason, logged).await {
            let end = TurnEnd::WithoutOutput(status);
            self.turn.finished(end).with_response(Some(self.job.id().as_str())).publish();
        }
    }

    /// Stores the end of a turn without output. Returns its status, unless another process ends
    /// the turn.
    async fn store_detached(&self, reason: EndReason, logged: u64) -> Option<Status> {
        match self.try_to_store_detached(reason, logged).await {
            Ok(status) => return Some(status),
            Err(error) if error.is_outage() => self.release(),
            Err(error) => tracing::info!(%error, "another process may run the background response"),
        }
        None
    }

    async fn try_to_store_detached(
        &self,
        reason: EndReason,
        logged: u64,
    ) -> Result<Status, StoreError> {
        let detached = DetachedTurn::end(self.turn, reason, logged).await;
        let (store, tenant) = (self.turn.gateway.store.background_jobs(), &self.turn.caller.tenant);
        let logged = logged + detached.events.len() as u64;
        if !detached.events.is_empty() {
            store.append(tenant, self.job.id(), detached.events).await?;
        }
        let status = detached.status;
        self.commit_end(detached.record, logged, (status, detached.last)).await?;
        Ok(status)
    }

    /// Commits the end of a background turn. No other code does this, for any result. The commit
    /// includes the last event, which no client has seen yet, and the webhook deliveries.
    async fn commit_end(
        &self,
        record: TurnRecord,
        logged: u64,
        (status, last): (Status, Event),
    ) -> Result<(), StoreError> {
        let (gateway, tenant) = (self.turn.gateway, &self.turn.caller.tenant);
        let now = unix_now();
        let last = LoggedEvent { sequence_number: logged, body: last.data };
        let notices = gateway.webhooks.notices(tenant, self.job.id().as_str(), status, now);
        let record = TurnRecord { notices, ..record };
        gateway.store.background_jobs().end(tenant, record, last, log_expiry(now)).await?;
        gateway.webhooks.notify_committed();
        self.job.notify_readers();
        Ok(())
    }

    /// Releases the job, so that any process can resume it: now, or as soon as the store works
    /// again.
    fn release(&self) {
        let gateway = self.turn.gateway;
        let (store, jobs) = (Arc::clone(&gateway.store), gateway.jobs.clone());
        let job = Arc::clone(&self.job);
        let releasing = async move {
            let release = || store.background_jobs().release(job.tenant(), job.id());
            retry_in_background("release a background response to other processes", release).await;
            jobs.search_abandoned();
        };
        gateway.turns.spawn(releasing.in_current_span());
    }
}

impl Drop for RunningJob<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.release();
        }
    }
}
