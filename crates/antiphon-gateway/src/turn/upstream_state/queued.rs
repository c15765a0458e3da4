//! A turn in the upstream's own background. The client receives a queued response.
//!
//! The upstream answers requests for the response. The commit of the turn begins a watch
//! ([`crate::watcher`]), which logs the end of the response and sends its webhooks. The ledger
//! stays stale and is resynced before the next turn.

use antiphon::json::Object;
use antiphon_store::{ClaimedNotice, LedgerUpdate, NewResponse, Notice, TurnRecord};
use bytes::Bytes;

use super::UpstreamTurn;
use super::commit::envelope_with;
use super::plan::Plan;
use crate::error::ApiError;
use crate::turn::Client;
use crate::turn::open::Opened;
use crate::upstream::{Reply, UpstreamError};
use crate::watches::WatchedTurn;

/// The upstream's response object for a queued response.
pub(super) struct Queued {
    id: String,
    status: String,
    /// The whole object.
    text: String,
}

impl UpstreamTurn<'_> {
    /// Commits the turn and returns the upstream's response object to the client.
    pub(super) async fn conclude_queued(
        &self,
        opened: Opened,
        plan: Plan,
        queued: Queued,
        client: &mut Client,
    ) -> Result<(), ApiError> {
        let watched =
            WatchedTurn::new(self.http, self.turn.caller, self.turn.request, opened.created_at);
        let notice = watched.notice(&queued.id);
        if let Err(error) = self.commit_queued(&opened, &plan, &queued, notice.clone()).await {
            self.mark_stale_again(&opened).await;
            return Err(error);
        }
        self.watch(&opened, watched, notice);
        opened.close().await;
        let response = self.turn.request.store.then_some(&*queued.id);
        plan.report.log_queued(response, &queued.status);
        client.begin_answer(plan.report.head_unnamed());
        client.send_object(self.translated(queued.text));
        Ok(())
    }

    /// Starts to watch the response, after the commit of the watch.
    fn watch(&self, opened: &Opened, watched: WatchedTurn, notice: Notice) {
        let committed = ClaimedNotice {
            tenant: self.turn.caller.tenant.clone(),
            response: opened.response_id.clone(),
            notice,
            attempt: 0,
        };
        self.turn.gateway.watches.begin(committed, watched, self.turn.caller);
    }

    /// Commits the turn, with the watch of its response. The ledger stays stale.
    async fn commit_queued(
        &self,
        opened: &Opened,
        plan: &Plan,
        queued: &Queued,
        watch: Notice,
    ) -> Result<(), ApiError> {
        let request = self.turn.request;
        let response = request.store.then(|| NewResponse {
            id: opened.response_id.clone(),
            conversation: opened.conversation.clone(),
            created_at: opened.created_at,
            envelope: envelope_with(&queued.id, &queued.status),
            report: plan.report.to_json().into(),
        });
        let turn = TurnRecord {
            destination: opened.destination.clone(),
            input: plan.fresh.clone(),
            output: Vec::new(),
            response,
            request: Some(request.identity.digest),
            place: opened.place(),
            notices: vec![watch],
            ledger: Some(LedgerUpdate { response: Some(self.named(&queued.id)), is_stale: true }),
        };
        Ok(self.turn.gateway.store.commit_turn(&self.turn.caller.tenant, turn).await?)
    }
}

impl Queued {
    /// Parses the upstream's answer.
    pub(super) fn parse(reply: Reply) -> Result<Self, UpstreamError> {
        match reply {
            Reply::Whole(body) => Self::read(&body),
            Reply::Events(_) => Err(garbled("events, which were not asked for")),
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
