//! Prepares the request of a turn at a server that keeps its state.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::deletion::Deletion;
use super::plan::PlannedRequest;
use super::planner::Planner;
use super::{
    Action, ContinueFrom, Continues, Failure, Known, Listed, LoadReason, Plan, Rules, unknown,
};
use crate::faults::StateError;
use crate::item::{Item, ItemId, Kind};
use crate::provider_api::{
    Chain, ChainOptions, ChainStep, ChainWalk, DetourSearch, DetourStep, RefusedItems,
    UnexpectedAnswer,
};
use crate::reconcile::AdmissionMode;
use crate::repair::ReportedRepair;
use crate::transcript::Transcript;

/// Statuses of a server that cannot list its items at the moment. The client has to repeat the
/// turn: without the list, items could be stored twice.
const NOT_NOW: [u16; 3] = [408, 429, 503];

/// The preparation of a request. It lists the server's items if they are unknown, plans the items
/// to send, and deletes or avoids stored items that block the turn. After a state error it does so
/// once more: a request is sent at most twice, except for repetitions after a lock.
///
/// It does no I/O. Its driver performs each [`action`](Self::action) and records the result; other
/// calls do not change the action. A client has the known items in memory, a gateway in its store.
///
/// ```text
///   Loading ── unknown ──> Listing ── all listed ──> Storing
///    |  ^                   |   ^                       |
///    |  |                Finding, for each response     |
///    |  |                                               |
///    |  '── more may be listed ──.                      |
///    '── known ──────────────> plan <───────────────────'
///                            |  ^ '──> Blocked, Deleting, Detouring ──> plan
///                            v  |
///                          Ready, sent ──> accepted
///                            |  '── state error ──> Loading, plan, or GivenUp
///                            '──── Locked ── the wait is over ──> Loading
/// ```
pub struct Preparation {
    rules: Rules,
    continues: Continues,
    input: Arc<[Item]>,
    ids: IdIssuer,
    state: State,
    progress: Progress,
    /// The first state error.
    fault: Option<StateError>,
    /// The request that the server rejected for its state. It is absent after a deletion, because
    /// the server may then accept the same request.
    rejected: Option<PlannedRequest>,
    /// The number of failed list requests that are still repeated.
    retries: usize,
}

/// The state of a preparation, named by the action or answer that it awaits.
enum State {
    Loading(LoadReason),
    Listing(Box<ChainWalk>),
    /// The known items that end with this response, which come before the listed ones.
    Finding(Box<ChainWalk>, String),
    Storing(Box<Listed>),
    /// Items block the plan, and the server may be able to delete them.
    Blocked(Box<Plan>),
    /// The server deletes items that block the plan.
    Deleting(Deletion, Box<Plan>),
    /// The server is asked for the items around those that block the plan.
    Detouring(Box<DetourSearch>, Box<Plan>),
    /// The request is ready, or has been sent. Without a plan, the caller's request is sent.
    Ready(Option<Box<Plan>>),
    /// Another turn of the conversation is open.
    Locked(Option<Box<Plan>>),
    GivenUp(Failure),
}

/// The progress since the start or the last state error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Nothing was removed after these known items.
    Known(Source),
    /// Blocking items among them were deleted or avoided, or could not be.
    Cleared(Source),
}

/// The source of the known items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The record.
    Record,
    /// The server's list.
    List,
}

/// Issues ids for items that have none.
struct IdIssuer(Box<dyn FnMut(&Kind) -> ItemId + Send + Sync>);

impl Preparation {
    /// Prepares a request with this input. `issue_id` issues the ids of items that have none.
    pub fn new(
        rules: Rules,
        continues: Continues,
        input: Arc<[Item]>,
        issue_id: impl FnMut(&Kind) -> ItemId + Send + Sync + 'static,
    ) -> Self {
        Self {
            rules,
            continues,
            input,
            ids: IdIssuer(Box::new(issue_id)),
            state: State::Loading(LoadReason::Start),
            progress: Progress::Known(Source::Record),
            fault: None,
            rejected: None,
            retries: 1,
        }
    }

    /// The next action.
    pub fn action(&self) -> Action<'_> {
        match &self.state {
            State::Loading(reason) => Action::Load(*reason),
            State::Listing(walk) => Action::Ask(walk.path()),
            State::Finding(_, id) => Action::Find(id),
            State::Storing(listed) => Action::Store(listed),
            State::Blocked(_) => Action::CheckDeletion,
            State::Deleting(deletion, _) => {
                Action::Delete { item: deletion.item(), path: deletion.path() }
            }
            State::Detouring(search, _) => Action::Ask(search.path()),
            State::Ready(plan) => Action::Send(plan.as_deref()),
            State::Locked(_) => Action::Wait,
            State::GivenUp(failure) => Action::GiveUp(failure),
        }
    }

    /// The plan of the request that is sent.
    pub fn plan(&self) -> Option<&Plan> {
        match &self.state {
            State::Ready(plan) => plan.as_deref(),
            _ => None,
        }
    }

    /// The first state error of the turn.
    pub fn fault(&self) -> Option<&StateError> {
        self.fault.as_ref()
    }

    /// Records the known items; `None` if they are unknown or stale.
    pub fn record_known(&mut self, known: Option<Known>) {
        match (self.take_state(), known) {
            (State::Loading(LoadReason::Start), Some(known)) if self.shows_unknown(&known) => {
                self.state = State::Loading(LoadReason::Incomplete);
            }
            (State::Loading(LoadReason::Start), Some(known)) => self.plan_after(known),
            (State::Loading(LoadReason::Unlisted), Some(known)) => self.plan_unlisted(known),
            (State::Loading(LoadReason::Lost), Some(known)) => self.replay(known),
            (State::Loading(_) | State::Storing(_), Some(known)) => {
                self.progress = Progress::Known(Source::List);
                self.plan_after(known);
            }
            (State::Loading(LoadReason::Unlisted | LoadReason::Lost), None) => {
                self.give_up(Failure::NotListed(None));
            }
            (State::Loading(_), None) => self.list(),
            (State::Finding(walk, _), Some(known)) => self.store(walk.finish(), &known.items),
            (State::Finding(walk, _), None) => self.state = State::Listing(walk),
            (other, _) => self.state = other,
        }
    }

    /// Whether the input shows that the server may have more items than the known ones.
    fn shows_unknown(&self, known: &Known) -> bool {
        self.is_clients_conversation() && unknown::in_input(&self.input, &known.items)
    }

    /// Whether turns of other processes may be missing in the record of the conversation.
    fn is_clients_conversation(&self) -> bool {
        self.is_clients() && matches!(self.continues, Continues::Conversation(_))
    }

    fn is_clients(&self) -> bool {
        self.rules.mode == AdmissionMode::Client
    }

    /// Asks the server for its items.
    fn list(&mut self) {
        // A client recognizes messages with images by them too.
        let has_images = || self.input.iter().any(|it| it.text().contains("\"input_image\""));
        let reads_conversation = self.is_clients();
        let options =
            ChainOptions { shows_images: reads_conversation && has_images(), reads_conversation };
        let walk = match &self.continues {
            Continues::Conversation(id) => ChainWalk::conversation(id, options),
            Continues::Response(id) => ChainWalk::new(id, options),
            Continues::Nothing | Continues::Unclear => None,
        };
        match walk {
            Some(walk) => self.state = State::Listing(Box::new(walk)),
            None => self.record_missing(),
        }
    }

    /// Sets whether the server lists the input of responses, before its first answer.
    pub fn set_input_listed(&mut self, lists_input: bool) {
        if let State::Listing(walk) = &mut self.state {
            walk.set_input_listed(lists_input);
        }
    }

    /// Records the server's answer to [`Action::Ask`] or [`Action::Delete`]. For a request without
    /// an answer, the status is 0 and the body empty. Returns the item that the server has
    /// deleted, if any: the driver marks it as deleted in its record.
    pub fn record_answer(&mut self, status: u16, body: &Bytes) -> Option<ItemId> {
        match self.take_state() {
            State::Listing(_) if NOT_NOW.contains(&status) => {
                self.give_up(Failure::NotListed(None));
            }
            State::Listing(walk) if status >= 500 && self.retries > 0 => {
                self.retries -= 1;
                self.state = State::Listing(walk);
            }
            State::Listing(walk) => match walk.take(status, body) {
                ChainStep::Request(walk) => self.state = State::Listing(walk),
                ChainStep::Previous(walk, id) => self.state = State::Finding(walk, id),
                ChainStep::Done(chain) => self.store(chain, &Transcript::default()),
                ChainStep::NotFound => self.record_missing(),
                ChainStep::NotListed(error) => self.record_not_listed(error),
            },
            State::Deleting(mut deletion, plan) => {
                let deleted = deletion.take(status, body);
                match deletion.is_over() {
                    true => self.plan_after_deletion(deletion, plan),
                    false => self.state = State::Deleting(deletion, plan),
                }
                return deleted;
            }
            State::Detouring(search, plan) => match search.take(status, body) {
                DetourStep::Request(search) => self.state = State::Detouring(search, plan),
                DetourStep::Done(Some(detour)) => {
                    let (known, blocking) = plan.into_known();
                    let repairs = blocking.report_detour();
                    self.plan_with(known, ContinueFrom::Detour(detour), repairs);
                }
                // Without a detour the turn is sent as planned, and the server decides.
                DetourStep::Done(None) => self.proceed(plan),
            },
            other => self.state = other,
        }
        None
    }

    /// Handles a server without the conversation or response.
    fn record_missing(&mut self) {
        match self.is_clients() && self.fault.is_none() {
            true => self.state = State::Ready(None),
            false => self.record_not_listed(None),
        }
    }

    /// Handles a server that does not list its items. After a state error, that error stands.
    fn record_not_listed(&mut self, error: Option<UnexpectedAnswer>) {
        let is_chain = matches!(self.continues, Continues::Response(_));
        self.state = match error {
            _ if self.fault.is_some() => State::GivenUp(Failure::Rejected),
            _ if self.is_clients() => State::Loading(LoadReason::Unlisted),
            None if is_chain => State::Loading(LoadReason::Lost),
            error => State::GivenUp(Failure::NotListed(error)),
        };
    }

    fn store(&mut self, chain: Chain, known: &Transcript) {
        let listed = Listed::new(chain, known, &self.rules, &mut self.ids.0);
        self.state = State::Storing(Box::new(listed));
    }

    fn plan_after(&mut self, known: Known) {
        self.plan_with(known, ContinueFrom::AsRequested, Vec::new());
    }

    fn plan_unlisted(&mut self, known: Known) {
        let plan = self.planner().plan_by_kind(known);
        self.proceed(Box::new(plan));
    }

    /// Plans to send items again, because the server has lost the response.
    fn replay(&mut self, known: Known) {
        match known.earlier.clone() {
            Some(point) => self.plan_with(known, ContinueFrom::Earlier(point), Vec::new()),
            None => self.give_up(Failure::NotListed(None)),
        }
    }

    /// Plans the request. `repairs` are those that come before it.
    fn plan_with(
        &mut self,
        known: Known,
        continue_from: ContinueFrom,
        repairs: Vec<ReportedRepair>,
    ) {
        let is_first = self.is_clients() && self.continues == Continues::Nothing;
        let is_delivery = self.rules.is_delivery;
        let planner = self.planner();
        let planned = match is_first {
            true => Ok(planner.plan_first()),
            false if is_delivery => planner.plan_delivery(known),
            false => planner.plan_after(known, continue_from),
        };
        match planned {
            Ok(mut plan) => {
                plan.report.repairs.extend(repairs);
                self.proceed(Box::new(plan));
            }
            Err(refusal) => self.state = State::GivenUp(Failure::Refused(refusal)),
        }
    }

    fn planner(&mut self) -> Planner<'_> {
        let refused = self.fault.as_ref().map(RefusedItems::from_error).unwrap_or_default();
        Planner { input: &self.input, refused, rules: &self.rules, issue_id: &mut self.ids.0 }
    }

    /// Removes the items that block this plan, or prepares it for sending.
    fn proceed(&mut self, plan: Box<Plan>) {
        let Progress::Known(source) = self.progress else { return self.finish(plan) };
        if self.rules.is_strict || plan.report.by_kind {
            return self.finish(plan);
        }
        if source == Source::Record && self.is_clients_conversation() && unknown::in_plan(&plan) {
            return self.state = State::Loading(LoadReason::Incomplete);
        }
        match &self.continues {
            Continues::Conversation(_) if !plan.blocking.is_empty() => {
                self.state = State::Blocked(plan);
            }
            Continues::Response(id)
                if plan.continue_from == ContinueFrom::AsRequested
                    && let Some(search) =
                        DetourSearch::new(id, plan.blocking.unrepairable_ids()) =>
            {
                self.progress = Progress::Cleared(source);
                self.state = State::Detouring(Box::new(search), plan);
            }
            _ => self.finish(plan),
        }
    }

    /// Records whether the server can delete items, for [`Action::CheckDeletion`].
    pub fn record_item_deletion(&mut self, is_possible: bool) {
        let (plan, source) = match (self.take_state(), self.progress) {
            (State::Blocked(plan), Progress::Known(source)) => (plan, source),
            (other, _) => return self.state = other,
        };
        match &self.continues {
            Continues::Conversation(id) if is_possible && Deletion::is_possible(&plan.blocking) => {
                self.progress = Progress::Cleared(source);
                self.state = State::Deleting(Deletion::new(id, &plan.blocking), plan);
            }
            // The server's list may have the ids that are missing.
            _ if is_possible && source == Source::Record => {
                self.state = State::Loading(LoadReason::Incomplete);
            }
            _ => self.finish(plan),
        }
    }

    /// Prepares this plan for sending, unless the server has rejected the same request.
    fn finish(&mut self, plan: Box<Plan>) {
        let is_same =
            self.rejected.as_ref() == Some(&plan.request()) || plan.is_emptied(&self.input);
        self.state = match self.fault.is_some() && is_same {
            true => State::GivenUp(Failure::NoOtherRequest),
            false => State::Ready(Some(plan)),
        };
    }

    fn plan_after_deletion(&mut self, deletion: Deletion, plan: Box<Plan>) {
        let deleted = deletion.deleted;
        if deleted.is_empty() {
            return self.proceed(plan);
        }
        let (known, blocking) = plan.into_known();
        let repairs = blocking.only(&deleted).report_deletions(&self.input);
        let known = Known { items: known.items.with_erased(&deleted), ..known };
        self.rejected = None;
        self.plan_with(known, ContinueFrom::AsRequested, repairs);
    }

    /// Records that the server rejected the request, with this state error if it is one.
    pub fn reject(&mut self, error: Option<StateError>) {
        let plan = match self.take_state() {
            State::Ready(plan) => plan,
            other => return self.state = other,
        };
        let error = match error {
            Some(StateError::Locked) => return self.state = State::Locked(plan),
            Some(error) if self.fault.is_none() && !self.rules.is_strict => error,
            _ => return,
        };
        self.fault = Some(error.clone());
        let Some(plan) = plan else { return };
        self.rejected = Some(plan.request());
        match (error, self.progress) {
            (StateError::UnknownResponse, _) => self.state = State::Loading(LoadReason::Lost),
            // The server has just listed its items, so only the missing one is left out.
            (
                StateError::UnknownItem(_),
                Progress::Known(Source::List) | Progress::Cleared(Source::List),
            ) if self.is_clients() => self.plan_again(*plan),
            _ if self.is_listable(&plan) => self.load_again(LoadReason::Rejected),
            _ => self.plan_again(*plan),
        }
    }

    /// Records that the wait for another turn is over.
    pub fn resume(&mut self) {
        match self.take_state() {
            State::Locked(Some(plan)) if self.is_listable(&plan) => {
                self.load_again(LoadReason::Locked);
            }
            State::Locked(plan) => self.state = State::Ready(plan),
            other => self.state = other,
        }
    }

    /// Starts again, because the server's items may differ from the known ones.
    fn load_again(&mut self, reason: LoadReason) {
        (self.progress, self.state) = (Progress::Known(Source::Record), State::Loading(reason));
    }

    /// Whether a new list of the server may change this plan.
    fn is_listable(&self, plan: &Plan) -> bool {
        !plan.report.by_kind
            && self.continues != Continues::Nothing
            && !matches!(plan.continue_from, ContinueFrom::Earlier(_))
    }

    /// Plans again after the same items.
    fn plan_again(&mut self, plan: Plan) {
        let (by_kind, continue_from) = (plan.report.by_kind, plan.continue_from.clone());
        let known = plan.into_known().0;
        match by_kind {
            true => self.plan_unlisted(known),
            false => self.plan_with(known, continue_from, Vec::new()),
        }
    }

    /// Ends the turn. After a state error, that error stands.
    fn give_up(&mut self, failure: Failure) {
        self.state = State::GivenUp(match &self.fault {
            Some(_) => Failure::Rejected,
            None => failure,
        });
    }

    /// Takes the state. Until another one is set, the turn is rejected.
    fn take_state(&mut self) -> State {
        std::mem::replace(&mut self.state, State::GivenUp(Failure::Rejected))
    }
}

impl fmt::Debug for Preparation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Preparation").field("action", &self.action()).finish_non_exhaustive()
    }
}
