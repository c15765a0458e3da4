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
pub(crate) struct LogReader {
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
    Open,
    /// The response has ended.
    Ended,
    /// The end was returned, or the log was deleted.
    Closed,
}

impl LogReader {
    /// Opens the log at event number `from`. `None` if there is no log with this id.
    pub(crate) async fn open(
        gateway: Arc<Gateway>,
        tenant: Tenant,
        id: ResponseId,
        from: u64,
    ) -> Result<Option<Self>, StoreError> {
        let state = State::Open;
        let mut reader = Self { gateway, tenant, id, next: from, ahead: VecDeque::new(), state };
        Ok(reader.read_page().await?.then_some(reader))
    }

    /// Returns the next event. A stream that ends without [`OutgoingEvent::Done`] is incomplete:
    /// the gateway is stopping, the store failed, or the response was deleted.
    pub(crate) async fn next(&mut self) -> Option<OutgoingEvent> {
        loop {
            if let Some(event) = self.ahead.pop_front() {
                self.next = event.sequence_number + 1;
                return Some(OutgoingEvent::Event(to_event(event)));
            }
            match self.state {
                State::Open => {
                    if !self.wait_for_page().await {
                        return None;
                    }
                }
                State::Ended => {
                    self.state = State::Closed;
                    return Some(OutgoingEvent::Done);
                }
                State::Closed => return None,
            }
        }
    }

    /// Waits for the next page. Returns `false` if there will be none.
    async fn wait_for_page(&mut self) -> bool {
        loop {
            let progress = self.gateway.jobs.progress(&self.tenant, &self.id);
            match self.read_page().await {
                Ok(true) if self.ahead.is_empty() && self.state == State::Open => {}
                Ok(is_there) => return is_there,
                Err(error) => {
                    tracing::warn!(
                        %error,
                        "could not read the log of a background response; its stream ends"
                    );
                    return false;
                }
            }
            if !self.wait_for_progress(progress).await {
                return false;
            }
        }
    }

    /// Reads a page. Returns `false` if there is no log.
    async fn read_page(&mut self) -> Result<bool, StoreError> {
        let store = self.gateway.store.background_jobs();
        let Some(page) = store.events(&self.tenant, &self.id, self.next).await? else {
            return Ok(false);
        };
        self.ahead = page.events.into();
        match page.state {
            LogState::Open => {}
            LogState::Unclaimed => self.gateway.jobs.search_abandoned(),
            LogState::Ended => self.state = State::Ended,
        }
        Ok(true)
    }

    /// Waits until there may be new events. Returns `false` if the gateway stops first. For a job
    /// of another process, this is a polling interval.
    async fn wait_for_progress(&self, progress: Option<watch::Receiver<()>>) -> bool {
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

fn to_event(logged: LoggedEvent) -> Event {
    let object = Object::parse(&logged.body).ok();
    let kind = object.and_then(|object| object.string("type").map(std::borrow::Cow::into_owned));
    Event { kind: kind.unwrap_or_default().into(), data: logged.body }
}
