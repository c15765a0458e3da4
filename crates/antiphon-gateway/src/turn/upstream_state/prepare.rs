//! The second stage: prepares the request of a turn with the engine for state at a server.

use antiphon::HeldItem;
use antiphon::faults::StateError;
use antiphon::reconcile::StoredInput;
use antiphon::stateful::{
    self, Action, ContinueFrom, Failure, Known, LoadReason, Plan, Preparation,
};
use antiphon_store::{Destination, ResponseRecord, ThreadId};
use bytes::Bytes;
use http::StatusCode;

use super::UpstreamTurn;
use super::open::OpenedAtUpstream;
use super::prior_attempt::{PriorAnswer, PriorOutcome};
use super::resync::{ChainSync, conversation_not_found, response_not_found};
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::owner::Provider;
use crate::request::Continues;
use crate::span::Stage;
use crate::trace::ChatSpan;
use crate::turn::admission::issue_item_id;
use crate::turn::report::Report;
use crate::upstream::UpstreamError;

/// A turn whose request is being prepared: the driver of a [`Preparation`], with the ledger as the
/// known items.
pub(super) struct PreparingAtUpstream<'a> {
    at: UpstreamTurn<'a>,
    preparation: Preparation,
    /// The place of the turn, once it is known.
    opened: Option<OpenedAtUpstream<'a>>,
    /// The hold on a response while the upstream lists its chain.
    chain: Option<ChainSync>,
    /// The client for one list or one deletion, with its deadline.
    provider: Option<Provider<'a>>,
    reason: LoadReason,
    /// The upstream's error for a list request.
    unlisted: Option<UpstreamError>,
    /// The upstream's rejection of the turn for its state.
    rejection: Option<ApiError>,
}

/// A turn with a place and a plan.
pub(super) struct PlannedAtUpstream<'a> {
    pub(super) opened: OpenedAtUpstream<'a>,
    pub(super) preparation: Preparation,
    pub(super) report: Report,
    pub(super) rejection: Option<ApiError>,
    /// The span of the model's answer, once the turn was sent.
    pub(super) chat: ChatSpan,
}

/// The end of a preparation.
pub(super) enum Prepared<'a> {
    /// A request to send.
    Planned(Box<PlannedAtUpstream<'a>>),
    /// An earlier attempt at the request has an answer.
    ByPriorAttempt(PriorAnswer),
}

impl<'a> PreparingAtUpstream<'a> {
    pub(super) fn new(at: UpstreamTurn<'a>) -> Self {
        let request = at.turn.request;
        let continues = match &request.continues {
            Continues::Nothing => stateful::Continues::Nothing,
            Continues::Conversation(id) => stateful::Continues::Conversation(id.clone()),
            Continues::Response(id) => stateful::Continues::Response(id.clone()),
        };
        let input = request.input.as_slice().into();
        Self::with(at, Preparation::new(at.rules(), continues, input, issue_item_id))
    }

    fn with(at: UpstreamTurn<'a>, preparation: Preparation) -> Self {
        Self {
            at,
            preparation,
            opened: None,
            chain: None,
            provider: None,
            reason: LoadReason::Start,
            unlisted: None,
            rejection: None,
        }
    }

    /// Continues the preparation after a rejection.
    pub(super) fn after(planned: PlannedAtUpstream<'a>) -> Self {
        let PlannedAtUpstream { opened, preparation, rejection, .. } = planned;
        let new = Self::with(opened.at, preparation);
        Self { opened: Some(opened), rejection, ..new }
    }

    /// Performs the actions of the preparation until the request is ready.
    ///
    /// # Errors
    /// The first rejection of the turn, if the upstream then does not list its items, or if there
    /// is no other request to send.
    pub(super) async fn prepare(mut self) -> Result<Prepared<'a>, ApiError> {
        loop {
            match self.preparation.action() {
                Action::GiveUp(failure) => {
                    let failure = failure.clone();
                    return Err(self.give_up(failure).await?);
                }
                Action::Send(_) | Action::Wait => {
                    return Ok(Prepared::Planned(Box::new(self.into_planned()?)));
                }
                Action::CheckDeletion => {
                    let capabilities = self.at.http.capabilities(self.at.turn.caller).await;
                    self.preparation.record_item_deletion(capabilities.item_deletion);
                }
                Action::Delete { .. } => {
                    let stage = self.at.turn.stage(Stage::Sync);
                    stage.close(self.delete().await)?;
                }
                Action::Load(_) | Action::Find(_) | Action::Store(_) | Action::Ask(_) => {
                    match self.sync().await {
                        Ok(false) => {}
                        Ok(true) => {
                            if let Some(prior) = self.load().await? {
                                return Ok(Prepared::ByPriorAttempt(prior));
                            }
                        }
                        Err(error) => return Err(self.rejection_or(error)),
                    }
                }
            }
        }
    }

    /// Performs the next action, which finds or lists the upstream's items. Returns whether the
    /// turn is now at their end, so that they can be loaded.
    async fn sync(&mut self) -> Result<bool, ApiError> {
        match self.preparation.action() {
            Action::Load(reason) => {
                (self.reason, self.provider) = (reason, None);
                let stage = self.at.turn.stage(Stage::Open);
                let is_open = stage.close(self.open(reason).await)?;
                if !is_open {
                    self.preparation.record_known(None);
                }
                Ok(is_open)
            }
            Action::Find(id) => {
                let known = match self.at.fresh_record(id).await? {
                    Some(record) => {
                        let items = self.at.turn.load(Some(record.cursor)).await?;
                        self.chain.as_mut().expect("a chain is listed").set_known(record);
                        Some(Known { items, ..Known::default() })
                    }
                    None => None,
                };
                self.preparation.record_known(known);
                Ok(false)
            }
            Action::Store(_) => {
                self.provider = None;
                let stage = self.at.turn.stage(Stage::Sync);
                stage.close(self.store_listed().await).map(|()| true)
            }
            Action::Ask(path) => {
                let stage = self.at.turn.stage(Stage::Sync);
                stage.close(self.ask(&path).await).map(|()| false)
            }
            _ => Ok(false),
        }
    }

    fn opened(&self) -> &OpenedAtUpstream<'a> {
        self.opened.as_ref().expect("the turn has a place")
    }

    /// Opens the turn where the ledger ends. Returns `false` if that is unknown or stale.
    async fn open(&mut self, reason: LoadReason) -> Result<bool, ApiError> {
        let at = self.at;
        match &at.turn.request.continues {
            Continues::Nothing => {
                self.opened = Some(OpenedAtUpstream::on_new_thread(at).await?);
                Ok(true)
            }
            Continues::Conversation(id) if reason == LoadReason::Start => {
                let (opened, is_fresh) = OpenedAtUpstream::open_conversation(at, id).await?;
                self.opened = Some(opened);
                Ok(is_fresh)
            }
            Continues::Conversation(_) => Ok(false),
            // The upstream has lost the response only now.
            Continues::Response(_) if reason == LoadReason::Lost && self.opened.is_some() => {
                Ok(true)
            }
            Continues::Response(id) => {
                let Some(record) = self.find_response(id, reason).await? else { return Ok(false) };
                self.reopen_after(&record).await?;
                Ok(true)
            }
        }
    }

    /// Finds the fresh record of a response. If there is none, holds the response until the
    /// upstream has listed its chain.
    async fn find_response(
        &mut self,
        id: &str,
        reason: LoadReason,
    ) -> Result<Option<ResponseRecord>, ApiError> {
        let at = self.at;
        if reason == LoadReason::Lost {
            if let Some(chain) = self.chain.take() {
                chain.release().await;
            }
            return at.lost_record(id).await;
        }
        // If the turn of that response is still open, because its client has just disconnected,
        // this waits for its end.
        if reason == LoadReason::Start
            && let Some(record) = at.fresh_record(id).await?
        {
            return Ok(Some(record));
        }
        let refused = self.opened.as_ref().and_then(|opened| opened.place.cursor);
        let chain = ChainSync::begin(at, id).await?;
        let found = at.fresh_record(id).await?;
        let found = found.filter(|record| Some(record.cursor) != refused);
        match found {
            Some(_) => chain.release().await,
            None => self.chain = Some(chain),
        }
        Ok(found)
    }

    /// Moves the turn to the end of this response.
    async fn reopen_after(&mut self, record: &ResponseRecord) -> Result<(), ApiError> {
        if let Some(opened) = self.opened.take() {
            opened.place.close().await;
        }
        self.opened = Some(OpenedAtUpstream::open_after(self.at, record).await?);
        Ok(())
    }

    /// Loads the ledger's items. Returns the outcome of an earlier attempt that has an answer.
    async fn load(&mut self) -> Result<Option<PriorAnswer>, ApiError> {
        let (turn, opened) = (self.at.turn, self.opened());
        let stage = turn.stage(Stage::Load);
        let found = match self.reason {
            LoadReason::Lost => {
                stage.close(opened.load_lost().await)?.map(|(items, point)| (items, Some(point)))
            }
            _ => Some((stage.close(turn.load(opened.place.cursor).await)?, None)),
        };
        let Some((items, earlier)) = found else {
            self.preparation.record_known(None);
            return Ok(None);
        };
        let stored = match opened.find_prior_attempt().await? {
            PriorOutcome::Unanswered(stored) => stored,
            PriorOutcome::Answered(answer) => {
                return match self.reason {
                    LoadReason::Start | LoadReason::Lost | LoadReason::Locked => Ok(Some(answer)),
                    // The attempt has just completed: the client's next retry receives its answer.
                    _ => Err(ApiError::RequestInProgress),
                };
            }
        };
        let stored = StoredInput::Items(stored.into_iter().collect());
        let _stage = turn.stage(Stage::Reconcile);
        self.preparation.record_known(Some(Known { items, stored, earlier }));
        Ok(None)
    }

    /// Sends a list request.
    async fn ask(&mut self, path: &str) -> Result<(), ApiError> {
        let at = self.at;
        let provider = self.provider.get_or_insert_with(|| at.provider());
        let answer = provider.ask(http::Method::GET, path).await;
        if answer.is_ok() && self.chain.as_mut().is_some_and(ChainSync::begin_list) {
            let capabilities = at.http.capabilities(at.turn.caller).await;
            self.preparation.set_input_listed(capabilities.input_items);
        }
        let (status, body) = status_and_body(&answer);
        if let Err(error) = answer {
            let is_lost = error.state_error() == Some(StateError::UnknownResponse);
            if status != 404 && !is_lost {
                return Err(error.into());
            }
            self.unlisted = Some(error);
        }
        self.preparation.record_answer(status, &body);
        Ok(())
    }

    /// Deletes an item of the conversation under its lease, at the upstream and then in the ledger.
    async fn delete(&mut self) -> Result<(), ApiError> {
        let Action::Delete { item, path } = self.preparation.action() else { return Ok(()) };
        let (at, turn, item) = (self.at, self.at.turn, item.clone());
        self.opened().mark_stale().await?;
        let answer = at.provider().ask(http::Method::DELETE, &path).await;
        let (status, body) = status_and_body(&answer);
        let deleted = self.preparation.record_answer(status, &body);
        if let (Some(deleted), Some(ledger)) = (deleted, &self.opened().place.conversation) {
            turn.gateway.store.delete_item(&turn.caller.tenant, ledger, &deleted).await?;
        } else {
            let error = answer.err().map(|error| error.to_string());
            let item = item.as_str();
            tracing::warn!(
                error,
                item,
                "the upstream did not delete an item that blocks a turn; the turn is sent \
                 nevertheless"
            );
        }
        Ok(())
    }

    /// Replaces the ledger's items with the listed ones, and moves the turn to their end.
    async fn store_listed(&mut self) -> Result<(), ApiError> {
        let Action::Store(listed) = self.preparation.action() else { return Ok(()) };
        if let (Continues::Response(id), Some(chain)) =
            (&self.at.turn.request.continues, self.chain.take())
        {
            let record = chain.store(self.at, id, listed).await?;
            return self.reopen_after(&record).await;
        }
        let opened = self.opened.as_mut().expect("a conversation has a place");
        opened.replace_items(self.at.entries(&listed.input)).await?;
        Ok(())
    }

    /// The error for the caller after the preparation failed.
    async fn give_up(&mut self, failure: Failure) -> Result<ApiError, ApiError> {
        let unlisted = self.unlisted.take();
        match (failure, self.rejection.take()) {
            (Failure::Rejected | Failure::NoOtherRequest, Some(rejection)) => {
                if let Some(unlisted) = unlisted {
                    warn_unlisted(&unlisted.to_string());
                }
                Ok(rejection)
            }
            (Failure::Refused(refusal), _) => Ok(refusal.into()),
            (Failure::NotListed(Some(error)), _) => Ok(UpstreamError::from(error).into()),
            (_, _) => self.not_found(unlisted).await,
        }
    }

    /// The error for a conversation or response that the upstream does not have.
    async fn not_found(&self, unlisted: Option<UpstreamError>) -> Result<ApiError, ApiError> {
        match (&self.at.turn.request.continues, unlisted) {
            (Continues::Response(id), unlisted) => match unlisted.map(ApiError::from) {
                Some(error) if error.status() != StatusCode::NOT_FOUND => Ok(error),
                _ => Ok(response_not_found(id)),
            },
            (Continues::Conversation(id), Some(error)) => {
                let error = error.into();
                if self.reason == LoadReason::Start {
                    self.at.forget_if_gone(id, &error).await?;
                }
                Ok(error)
            }
            (Continues::Conversation(id), None) => Ok(conversation_not_found(id)),
            (Continues::Nothing, _) => Ok(ApiError::MissingInput),
        }
    }

    /// The rejection of the turn, if there is one, or else this error.
    fn rejection_or(&mut self, error: ApiError) -> ApiError {
        let Some(rejection) = self.rejection.take() else { return error };
        warn_unlisted(&error.to_string());
        rejection
    }

    fn into_planned(self) -> Result<PlannedAtUpstream<'a>, ApiError> {
        let Self { at, preparation, opened, rejection, .. } = self;
        let mut opened = opened.expect("the turn has a place");
        let plan = preparation.plan().expect("a gateway plans each request");
        let (caller, request) = (at.turn.caller, at.turn.request);
        let has_context = request.continues != Continues::Nothing || request.is_prompted();
        if plan.sent.is_empty() && !has_context {
            return Err(ApiError::MissingInput);
        }
        let report =
            Report::from_changes(request.input.len(), plan.fresh.len(), plan.report.clone());
        let mut report = report.with_request(&caller.request_id);
        report.set_sent(plan.sent.len());
        if let (Some(fault), Some(error)) = (preparation.fault(), &rejection) {
            report.set_resynced(fault.name(), &error.as_failure().message);
        }
        if let ContinueFrom::Detour(_) = plan.continue_from {
            // The turn does not continue the end of its response.
            let (shard, thread) =
                (opened.place.response_id.shard(), ThreadId::issue(&mut RandomIds));
            opened.place.destination = Destination::New { shard, thread };
        }
        let chat = ChatSpan::default();
        Ok(PlannedAtUpstream { opened, preparation, report, rejection, chat })
    }
}

impl PlannedAtUpstream<'_> {
    /// The plan.
    pub(super) fn plan(&self) -> &Plan {
        self.preparation.plan().expect("the turn is planned")
    }

    /// Fails if the new items exceed a quota.
    pub(super) async fn check_quotas(&self) -> Result<(), ApiError> {
        let (opened, plan) = (&self.opened, self.plan());
        let added = opened.at.added_items(plan);
        opened.place.check_quotas(opened.at.turn, plan.known(), &added).await
    }
}

impl UpstreamTurn<'_> {
    /// The items that the turn adds to its thread. On a detour it starts a thread, so it adds the
    /// items before it as well.
    pub(super) fn added_items(&self, plan: &Plan) -> Vec<HeldItem> {
        let before = match plan.continue_from {
            ContinueFrom::Detour(_) => plan.known(),
            ContinueFrom::AsRequested | ContinueFrom::Earlier(_) => &[],
        };
        self.entries(before.iter().chain(&plan.fresh))
    }
}

/// The status and the body of an answer: 0 and empty if there is none.
fn status_and_body(answer: &Result<Bytes, UpstreamError>) -> (u16, Bytes) {
    match answer {
        Ok(body) => (200, body.clone()),
        Err(UpstreamError::Rejected(rejection)) => {
            (rejection.status.as_u16(), rejection.body.clone())
        }
        Err(_) => (0, Bytes::new()),
    }
}

fn warn_unlisted(reason: &str) {
    tracing::warn!(
        reason,
        "could not list the items of an upstream that rejected a turn; the client receives the \
         rejection"
    );
}
