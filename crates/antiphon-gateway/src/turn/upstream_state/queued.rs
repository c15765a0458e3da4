//! A turn in the upstream's own background. The client receives a queued response.
//!
//! The upstream answers requests for the response. The commit of the turn begins a watch
//! ([`crate::watcher`]), which logs the end of the response and sends its webhooks. The ledger
//! stays stale and is resynced before the next turn.

use antiphon::json::Object;
use antiphon_store::{ClaimedNotice, LedgerUpdate, Notice, TurnRecord};
use bytes::Bytes;

use super::open::OpenedAtUpstream;
use super::prepare::PlannedAtUpstream;
use crate::error::ApiError;
use crate::span::Stage;
use crate::turn::Client;
use crate::turn::finished::TurnEnd;
use crate::upstream::{Reply, UpstreamError};
use crate::watches::WatchedTurn;

/// The upstream's response object for a queued response.
pub(super) struct Queued {
    id: String,
    status: String,
    /// The whole object.
    text: String,
}

impl PlannedAtUpstream<'_> {
    /// Commits a turn in the upstream's own background, and returns the upstream's response object
    /// to the client.
    pub(super) async fn commit_queued(
        self,
        queued: Queued,
        client: &mut Client,
    ) -> Result<(), ApiError> {
        let OpenedAtUpstream { at, place, .. } = &self.opened;
        let turn = at.turn;
        let watched = WatchedTurn::new(at.http, turn.caller, turn.request, place.created_at);
        let notice = watched.notice(&queued.id);
        let stage = turn.stage(Stage::Commit);
        if let Err(error) = stage.close(self.store_queued(&queued, notice.clone()).await) {
            self.opened.mark_stale_again().await;
            return Err(error);
        }
        let (tenant, response) = (turn.caller.tenant.clone(), place.response_id.clone());
        let committed = ClaimedNotice { tenant, response, notice, attempt: 0 };
        turn.gateway.watches.start(committed, watched, turn.caller);
        let Self { opened: OpenedAtUpstream { at, place, .. }, report, .. } = self;
        place.close().await;
        let response = turn.request.store.then_some(&*queued.id);
        let end = TurnEnd::Queued(&queued.status);
        turn.finished(end).with_report(&report).with_response(response).publish();
        client.begin_answer(report.head_unnamed());
        client.send_object(at.translated(queued.text));
        Ok(())
    }

    /// Stores the turn, with the watch of its response. The ledger stays stale.
    async fn store_queued(&self, queued: &Queued, watch: Notice) -> Result<(), ApiError> {
        let opened = &self.opened;
        let turn = opened.at.turn;
        let ledger = LedgerUpdate { response: Some(opened.at.named(&queued.id)), is_stale: true };
        let record = TurnRecord {
            place: opened.place.place(),
            notices: vec![watch],
            ledger: Some(ledger),
            ..self.record(&queued.id, &queued.status)
        };
        Ok(turn.gateway.store.commit_turn(&turn.caller.tenant, record).await?)
    }
}

impl Queued {
    /// Parses the upstream's answer.
    pub(super) fn parse(reply: Reply) -> Result<Self, UpstreamError> {
        match reply {
            Reply::Whole(body) => Self::read(&body),
            Reply::Events(_) => Err(garbled("events, although none were requested")),
        }
    }

    fn read(body: &Bytes) -> Result<Self, UpstreamError> {
        let text = String::from_utf8_lossy(body).into_owned();
        let fields = Object::parse_str(&text).map_err(|error| garbled(&error.to_string()))?;
        let field = |key: &str| fields.string(key).map(String::from).filter(|it| !it.is_empty());
        let id = field("id").ok_or_else(|| garbled("a response without an id"))?;
        let status = field("status").ok_or_else(|| garbled("a response without a status"))?;
        Ok(Self { id, status, text })
    }
}

fn garbled(what: &str) -> UpstreamError {
    UpstreamError::UnexpectedAnswer(what.to_owned())
}
