//! A response's events from its log.

use std::collections::VecDeque;
use std::sync::Arc;

use antiphon::json::Object;
use antiphon::stream::Event;
use antiphon_store::{LoggedEvent, ResponseId, Rest, StoreError, Tenant};
use tokio::sync::watch;

use super::POLL;
use crate::gateway::Gateway;
use crate::turn::Told;

/// A reader of a log: it gets each event once, in order, as it comes. It holds a page of the log at
/// the most, however slowly it reads.
pub(crate) struct Reading {
    gateway: Arc<Gateway>,
    tenant: Tenant,
    id: ResponseId,
    /// The number of the event that is read next.
    next: u64,
    ahead: VecDeque<LoggedEvent>,
    state: State,
}

/// What is behind the events that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// More events.
    Going,
    /// The response's end.
    Ended,
    /// Nothing: that was told, or the log has gone.
    Over,
}

impl Reading {
    /// Reads the events from number `from` on. `None` where there is no log of this id.
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

    /// What is told next. A stream that ends without [`Told::Done`] was cut: the gateway stops, the
    /// store failed, or the response was deleted.
    pub(crate) async fn next(&mut self) -> Option<Told> {
        loop {
            if let Some(event) = self.ahead.pop_front() {
                self.next = event.sequence_number + 1;
                return Some(Told::Event(event_of(event)));
            }
            match self.state {
                State::Going => {
                    if !self.go_on().await {
                        return None;
                    }
                }
                State::Ended => {
                    self.state = State::Over;
                    return Some(Told::Done);
                }
                State::Over => return None,
            }
        }
    }

    /// Waits until there is more; `false` where nobody will tell.
    async fn go_on(&mut self) -> bool {
        loop {
            let progress = self.gateway.jobs.progress(&self.tenant, &self.id);
            match self.read_on().await {
                Ok(true) if self.ahead.is_empty() && self.state == State::Going => {}
                Ok(is_there) => return is_there,
                Err(error) => {
                    tracing::warn!(%error, "a log of events could not be read");
                    return false;
                }
            }
            if !self.progressed(progress).await {
                return false;
            }
        }
    }

    /// Reads a page; `false` where there is no log.
    async fn read_on(&mut self) -> Result<bool, StoreError> {
        let store = self.gateway.store.background();
        let Some(page) = store.events(&self.tenant, &self.id, self.next).await? else {
            return Ok(false);
        };
        self.ahead = page.events.into();
        match page.rest {
            Rest::More => {}
            Rest::Left => self.gateway.jobs.look_for_left(),
            Rest::Nothing => self.state = State::Ended,
        }
        Ok(true)
    }

    /// Waits until there may be more; `false` where the gateway stops before. Of what other
    /// processes do, it learns by asking again.
    async fn progressed(&self, progress: Option<watch::Receiver<()>>) -> bool {
        let (stopping, closing) = (&self.gateway.stopping, &self.gateway.closing);
        let is_here = progress.is_some();
        let something = async {
            match progress {
                // The end of the job is progress too.
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
