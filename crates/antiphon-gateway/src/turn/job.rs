//! Runs a background turn to its end, or until this process cannot continue it.

use std::sync::Arc;

use antiphon::stream::{Event, Failure, Status};
use antiphon_store::{Base, LoggedEvent, StoreError, Turn as TurnRecord};
use tracing::Instrument as _;

use super::background::Planning;
use super::error::TurnError;
use super::log::EventLog;
use super::open::Opened;
use super::relay::Outcome;
use super::retry::CutAttempts;
use super::{Client, Planned, Turn};
use crate::entropy::unix_now;
use crate::error::ApiError;
use crate::error::QUOTA_EXCEEDED;
use crate::gateway::Gateway;
use crate::jobs::{Job, expiry_of};
use crate::limits::TurnPermit;
use crate::retry_in_background::retry_in_background;
use crate::upstream::RetrySession;

/// The number of events before the first output event: created, queued and in progress.
pub(super) const BEGINNING: u64 = 3;

/// The reason for the end of a turn without output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It was cancelled.
    Cancelled,
    /// It failed.
    Failed(Failure),
}

impl Ending {
    /// Whether the input exceeds a quota.
    pub(super) fn is_of_quota(&self) -> bool {
        matches!(self, Self::Failed(failure) if failure.code == QUOTA_EXCEEDED)
    }
}

/// A job that this process runs. If the turn panics, the job is released and can be resumed.
struct Held<'a> {
    gateway: &'a Gateway,
    job: Arc<Job>,
}

impl Turn<'_> {
    /// Opens the turn, in the order of arrival, and plans it.
    pub(super) async fn opened_and_planned(&self) -> Result<Planned, ApiError> {
        self.gateway.upstream_of(&self.request.model)?;
        let opened = self.open().await?;
        self.planned(opened, CutAttempts::default()).await
    }

    /// Opens and plans the turn, and fails if it exceeds a quota. A resumed job is not checked,
    /// because it was accepted before.
    pub(super) async fn opened_and_checked(&self) -> Result<Planned, ApiError> {
        let planned = self.opened_and_planned().await?;
        self.check_planned(&planned).await?;
        Ok(planned)
    }

    /// Runs a job whose log has `told` events.
    pub(super) async fn work(
        &self,
        job: Job,
        planning: Planning<'_>,
        told: u64,
        permit: Option<TurnPermit>,
    ) {
        let held = Held { gateway: self.gateway, job: Arc::new(job) };
        let planned = tokio::select! {
            biased;
            planned = planning => planned.map_err(|error| Ending::Failed(error.as_failure())),
            () = held.job.cancelled() => Err(Ending::Cancelled),
            () = self.gateway.stopping.cancelled() => return held.leave_behind(),
        };
        match planned {
            Ok(planned) => self.perform(planned, &held, told, permit).await,
            Err(ending) => {
                drop(permit);
                self.end_job_apart(&held, ending, told).await;
            }
        }
    }

    /// Ends a job without running it.
    pub(super) async fn end_at_once(&self, job: Job, ending: Ending, told: u64) {
        let held = Held { gateway: self.gateway, job: Arc::new(job) };
        self.end_job_apart(&held, ending, told).await;
    }

    async fn perform(
        &self,
        planned: Planned,
        held: &Held<'_>,
        told: u64,
        permit: Option<TurnPermit>,
    ) {
        let Planned { opened, mut plan } = planned;
        let upstream = match self.gateway.upstream_of(&self.request.model) {
            Ok(upstream) => upstream,
            Err(error) => {
                let ending = Ending::Failed(error.as_failure());
                return self.end_job_apart(held, ending, told).await;
            }
        };
        if self.reach(&opened, held).await.is_err() {
            opened.close().await;
            return held.leave_behind();
        }
        let log = EventLog::begin(self.gateway, &self.caller.tenant, held.job.clone(), told);
        let mut client = Client::logging(log, self.gateway.closing.clone(), permit);
        let mut asking = RetrySession::of(upstream, &self.request.model);
        self.hearing(&opened, &plan, upstream).behind(told).start(&mut client).await;
        let asked = self.ask_of_compacted(&opened, &mut plan, &mut asking, &mut client).await;
        // Whether the history was compacted is known only now. The response then begins with the
        // compaction.
        let hearing = self.hearing(&opened, &plan, upstream).behind(told.max(BEGINNING));
        let outcome = match asked {
            Ok(reply) => {
                self.relay(reply, hearing, &opened, &mut plan, &mut asking, &mut client).await
            }
            Err(TurnError::Cancelled(reason)) => hearing.leave(reason, &mut client).await,
            Err(TurnError::Failed(error)) => hearing.refused(error, &mut client).await,
        };
        plan.report.retried(asking.retries());
        self.conclude_job(Planned { opened, plan }, held, outcome, client).await;
    }

    /// Keeps the items that the turn continues from being swept before its end. The items of a
    /// conversation are never swept.
    async fn reach(&self, opened: &Opened, held: &Held<'_>) -> Result<(), StoreError> {
        let (Base::After { .. }, Some(cursor)) = (&opened.base, opened.cursor) else {
            return Ok(());
        };
        let (store, tenant) = (self.gateway.store.background(), &self.caller.tenant);
        store.reach(tenant, held.job.id(), cursor).await
    }

    /// Commits the result of the turn after all events but the last are in the log.
    async fn conclude_job(
        &self,
        planned: Planned,
        held: &Held<'_>,
        outcome: Outcome,
        client: Client,
    ) {
        let Planned { opened, plan } = planned;
        let assembler = match outcome {
            Outcome::Ended(assembler) | Outcome::ConversationDeleted(assembler) => Some(assembler),
            Outcome::Left(_) => None,
        };
        let log = client.into_log().expect("the client of a job is its log");
        let (Some(assembler), Ok(told)) = (assembler, log.finish().await) else {
            opened.close().await;
            return held.leave_behind();
        };
        let finished = assembler.finish(unix_now());
        self.learn_of_compaction(&plan, &finished);
        let report = plan.report.with_notes(&finished.notes);
        let base = match finished.status {
            Status::Failed | Status::Cancelled => opened.base_apart(),
            Status::Completed | Status::Incomplete => opened.base.clone(),
        };
        let turn = self.record(base, &opened, plan.fresh, &report, &finished, &plan.origin);
        let end = (finished.status, finished.event.clone());
        let ended = self.end_job(held, turn, told, end).await;
        let failure = ended.as_ref().err().map(|error| ApiError::from(error.clone()));
        let response = failure.is_none().then(|| held.job.id().as_str());
        report.log(self.request, response, &finished, failure.as_ref());
        opened.close().await;
        match ended {
            Ok(()) => {}
            Err(error) if error.is_outage() => held.leave_behind(),
            Err(error) => {
                let ending = Ending::Failed(ApiError::from(error).as_failure());
                self.end_job_apart(held, ending, told).await;
            }
        }
    }

    /// Ends a job without output and stores its input outside the conversation.
    async fn end_job_apart(&self, held: &Held<'_>, ending: Ending, told: u64) {
        match self.try_to_end_apart(held, ending, told).await {
            Ok(()) => {}
            Err(error) if error.is_outage() => held.leave_behind(),
            Err(error) => tracing::info!(%error, "a background response is another process's"),
        }
    }

    async fn try_to_end_apart(
        &self,
        held: &Held<'_>,
        ending: Ending,
        told: u64,
    ) -> Result<(), StoreError> {
        let apart = self.apart(ending, told).await;
        let (store, tenant) = (self.gateway.store.background(), &self.caller.tenant);
        let told = told + apart.events.len() as u64;
        if !apart.events.is_empty() {
            store.append(tenant, held.job.id(), apart.events).await?;
        }
        let status = apart.status;
        self.end_job(held, apart.turn, told, (status, apart.last)).await?;
        log_apart(held, status);
        Ok(())
    }

    /// Commits the end of a background turn. No other code does this, for any result. The commit
    /// includes the last event, which no client has seen yet, and the webhook deliveries.
    async fn end_job(
        &self,
        held: &Held<'_>,
        turn: TurnRecord,
        told: u64,
        (status, last): (Status, Event),
    ) -> Result<(), StoreError> {
        let (background, webhooks) = (self.gateway.store.background(), &self.gateway.webhooks);
        let (tenant, now) = (&self.caller.tenant, unix_now());
        let last = LoggedEvent { sequence_number: told, body: last.data };
        let notices = webhooks.notices(tenant, held.job.id().as_str(), status, now);
        let turn = TurnRecord { notices, ..turn };
        background.end(tenant, turn, last, expiry_of(now)).await?;
        webhooks.were_committed();
        held.job.progressed();
        Ok(())
    }
}

/// Logs the end of a job without output.
fn log_apart(held: &Held<'_>, status: Status) {
    let (response, status_name) = (held.job.id().as_str(), status.as_str());
    if status == Status::Failed {
        tracing::warn!(response, status = status_name, "background response ended without output");
    } else {
        tracing::info!(response, status = status_name, "background response ended without output");
    }
}

impl Held<'_> {
    /// Releases the job, so that any process can resume it: now, or as soon as the store works
    /// again.
    fn leave_behind(&self) {
        let (store, jobs) = (Arc::clone(&self.gateway.store), self.gateway.jobs.clone());
        let job = Arc::clone(&self.job);
        let releasing = async move {
            let release = || store.background().release(job.tenant(), job.id());
            retry_in_background("a background response is not left to others", release).await;
            jobs.look_for_left();
        };
        self.gateway.turns.spawn(releasing.in_current_span());
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.leave_behind();
        }
    }
}
