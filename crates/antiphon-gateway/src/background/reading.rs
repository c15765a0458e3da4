//! Reads the events of a response from its log.

use std::collections::VecDeque;
use std::sync::Arc;

use antiphon::json::Object;
use antiphon::stream::Event;
use antiphon_store::{LogState, LoggedEvent, ResponseId, StoreError, Tenant};
use tokio::sync::watch;

use crate::gateway::Gateway;
use crate::jobs::POLL;
use crate::turn::OutgoingEvent;

/// A reader of a log. It returns each event once, in order, as it arrives. Even if its consumer is
/// slow, it holds at most one page of the log in memory.
pub(crate) struct Reading {
    gateway: Arc<Gateway>,
    tenant: Tenant,
    id: ResponseId,
    /// The number of the next event.
    next: u64,
    ahead: VecDeque<LoggedEvent>,
    state: State,
}

/// The continuation after the events that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// More events will follow.
    Going,
    /// The response has ended.
    Ended,
    /// The end was returned, or the log was deleted.
    Over,
}

impl Reading {
    /// Opens the log at event number `from`. `None` if there is no log with this id.
    pub(crate) async fn begin(
        gateway: Arc<Gateway>,
        tenant: Tenant,
        id: ResponseId,
        from: u64,
    ) -> Result<Option<Self>, StoreError> {
        let state = State::Going;
        let mut reading = Self { gateway, tenant, id, next: from, ahead: VecDeque::new(), state };
        Ok(reading.read_on().await?.then_some(reading))
    }

    /// Returns the next event. A stream that ends without [`OutgoingEvent::Done`] is incomplete:
    /// the gateway is stopping, the store failed, or the response was deleted.
    pub(crate) async fn next(&mut self) -> Option<OutgoingEvent> {
        loop {
            if let Some(event) = self.ahead.pop_front() {
                self.next = event.sequence_number + 1;
                return Some(OutgoingEvent::Event(event_of(event)));
            }
            match self.state {
                State::Going => {
                    if !self.go_on().await {
                        return None;
                    }
                }
                State::Ended => {
                    self.state = State::Over;
                    return Some(OutgoingEvent::Done);
                }
                State::Over => return None,
            }
        }
    }

    /// Waits for the next page. Returns `false` if there will be none.
    async fn go_on(&mut self) -> bool {
        loop {
            let progress = self.gateway.jobs.progress(&self.tenant, &self.id);
            match self.read_on().await {
                Ok(true) if self.ahead.is_empty() && self.state == State::Going => {}
                Ok(is_there) => return is_there,
                Err(error) => {
                    tracing::warn!(
                        %error,
                        "could not read the log of a background response; its stream ends"
                    );
                    return false;
                }
            }
            if !self.progressed(progress).await {
                return false;
            }
        }
    }

    /// Reads a page. Returns `false` if there is no log.
    async fn read_on(&mut self) -> Result<bool, StoreError> {
        let store = self.gateway.store.background_jobs();
        let Some(page) = store.events(&self.tenant, &self.id, self.next).await? else {
            return Ok(false);
        };
        self.ahead = page.events.into();
        match page.state {
            LogState::Open => {}
            LogState::Unclaimed => self.gateway.jobs.look_for_left(),
            LogState::Ended => self.state = State::Ended,
        }
        Ok(true)
    }

    /// Waits until there may be new events. Returns `false` if the gateway stops first. For a job
    /// of another process, this is a polling interval.
    async fn progressed(&self, progress: Option<watch::Receiver<()>>) -> bool {
        let (stopping, closing) = (&self.gateway.stopping, &self.gateway.closing);
        let is_here = progress.is_some();
        let something = async {
            match progress {
                // The end of the job also counts as progress.
                Some(mut progress) => drop(progress.changed().await),
                None => tokio::time::sleep(POLL).await,
            }
        };
        tokio::select! {
            () = something => true,
            () = stopping.cancelled(), if !is_here => false,
            () = closing.cancelled() => false,
        }
    }
}

fn event_of(logged: LoggedEvent) -> Event {
    let object = Object::parse(&logged.body).ok();
    let kind = object.and_then(|object| object.string("type").map(std::borrow::Cow::into_owned));
    Event { kind: kind.unwrap_or_default().into(), data: logged.body }
}
