//! The state that a turn continues, in the memory of its client.

use std::sync::Arc;

use super::history::History;
use super::ledger::{Attempt, Ending, Version};
use super::memory::{Memory, OpenTurn};
use super::recent::Name;
use super::{ContinueFrom, Continues, Known, Listed, LoadReason, Plan};
use crate::item::ItemId;
use crate::reconcile::StoredInput;
use crate::transcript::HeldItem;

/// The state that a turn continues, in the memory of its client.
#[derive(Debug)]
pub(super) struct KnownState {
    memory: Memory,
    account: Arc<str>,
    continues: Continues,
    /// The open turn of its conversation. Dropping it makes the state stale.
    open: Option<OpenTurn>,
    /// The history that the turn continues.
    pub(super) history: History,
    /// The version of the conversation before the server was asked for its items.
    since: Option<Version>,
    /// The known part of a chain whose other items the server lists.
    beginning: History,
}

impl KnownState {
    pub(super) fn new(memory: &Memory, account: &str, continues: &Continues) -> Self {
        let (account, continues) = (account.into(), continues.clone());
        let (history, beginning) = (History::default(), History::default());
        Self {
            memory: memory.clone(),
            account,
            continues,
            open: None,
            history,
            since: None,
            beginning,
        }
    }

    /// Loads the items on which the turn starts; `None` if they are unknown or stale, or if the
    /// conversation has an open turn.
    pub(super) fn load(&mut self, reason: LoadReason, request: impl Fn() -> u128) -> Option<Known> {
        match reason {
            LoadReason::Start => {
                if let Some(history) = self.enter() {
                    return Some(self.continue_from(history, request));
                }
            }
            LoadReason::Incomplete => self.end_unchanged(),
            LoadReason::Rejected => {
                self.forget_response();
                self.end_unknown();
            }
            LoadReason::Locked => self.end_unknown(),
            LoadReason::Unlisted => return Some(self.enter_unlisted()),
            LoadReason::Lost => return None,
        }
        self.since = self.version();
        None
    }

    /// Starts the turn on the known history.
    fn enter(&mut self) -> Option<History> {
        match &self.continues {
            Continues::Nothing => Some(History::default()),
            Continues::Unclear => None,
            Continues::Response(id) => self.memory.response(&self.name(id)),
            Continues::Conversation(id) => {
                let (open, history) = self.memory.enter(&self.name(id))?;
                self.open = Some(open);
                Some(history)
            }
        }
    }

    /// The version of the known conversation.
    fn version(&self) -> Option<Version> {
        match &self.continues {
            Continues::Conversation(id) => Some(self.memory.version(&self.name(id))),
            _ => None,
        }
    }

    /// Starts the turn on the inputs and outputs of earlier turns, because the server does not list
    /// its items.
    fn enter_unlisted(&mut self) -> Known {
        if let Continues::Conversation(id) = &self.continues {
            let (open, received) = self.memory.enter_unlisted(&self.name(id));
            (self.open, self.history) = (Some(open), received);
        }
        Known { items: self.history.transcript(), ..Known::default() }
    }

    /// Finds the known history that ends with this response.
    pub(super) fn find(&mut self, id: &str) -> Option<Known> {
        self.beginning = self.memory.response(&self.name(id))?;
        Some(Known { items: self.beginning.transcript(), ..Known::default() })
    }

    /// Starts the turn on the items that the server listed.
    pub(super) fn store(&mut self, listed: &Listed, request: impl Fn() -> u128) -> Known {
        let items = listed.input.iter().chain(&listed.output).cloned();
        let listed_history = std::mem::take(&mut self.beginning).with(items);
        let history = match (&self.continues, self.since) {
            (Continues::Conversation(id), Some(since)) => {
                let name = self.name(id);
                let (open, history) = self.memory.enter_listed(&name, since, listed_history);
                self.open = Some(open);
                history
            }
            (Continues::Response(id), _) if !listed.is_underway => {
                self.memory.put_response(&self.name(id), listed_history.clone());
                listed_history
            }
            _ => listed_history,
        };
        self.continue_from(history, request)
    }

    fn continue_from(&mut self, history: History, request: impl Fn() -> u128) -> Known {
        let stored = match self.is_input_stored(request, &history) {
            true => StoredInput::All,
            false => StoredInput::default(),
        };
        let items = history.transcript();
        self.history = history;
        Known { items, stored, earlier: None }
    }

    /// Erases an item that the server has deleted.
    pub(super) fn erase(&mut self, item: &ItemId) {
        self.history = self.history.with_erased(item);
    }

    /// Whether an earlier attempt of the same request added its input to the conversation.
    fn is_input_stored(&self, request: impl Fn() -> u128, history: &History) -> bool {
        let Continues::Conversation(id) = &self.continues else { return false };
        let attempt = self.memory.attempt(&self.name(id), request());
        attempt.is_some_and(|attempt| attempt.stored_its_input(history))
    }

    /// Records that items of the conversation are deleted for the turn.
    pub(super) fn record_deletion(&mut self) {
        if let Some(open) = &mut self.open {
            open.record_deletion();
        }
    }

    /// Records the planned request, which the server may store although no answer arrives.
    pub(super) fn record_attempt(&mut self, plan: &Plan, request: impl Fn() -> u128) {
        if let ContinueFrom::Detour(detour) = &plan.continue_from {
            self.history = self.history.without(&detour.avoided);
        }
        if let Some(open) =
            self.open.as_mut().filter(|_| !plan.report.by_kind && !plan.fresh.is_empty())
        {
            let sent = plan.fresh.iter().cloned().map(HeldItem::without_body).collect();
            let before = self.history.clone();
            let is_again = matches!(plan.stored, StoredInput::All);
            open.attempt = Some(Attempt { request: request(), before, sent, is_again });
        }
    }

    /// Drops the recorded request, which the client will not repeat: the server rejected it, or
    /// accepted it in the background. The client polls a background response, so an equal request
    /// later is a turn of its own.
    pub(super) fn drop_attempt(&mut self) {
        if let Some(open) = &mut self.open {
            open.attempt = None;
        }
    }

    /// Drops the known history of the response that the turn continues: it was wrong.
    pub(super) fn forget_response(&self) {
        if let Continues::Response(id) = &self.continues {
            self.memory.forget_response(&self.name(id));
        }
    }

    /// Ends the turn without a change.
    pub(super) fn end_unchanged(&mut self) {
        if let Some(open) = self.open.take() {
            open.end_unchanged();
        }
    }

    /// Ends the turn. The state is unknown.
    pub(super) fn end_unknown(&mut self) {
        self.open = None;
    }

    /// Ends the turn, whose answer ends with these items. They follow the known items, which are
    /// complete if `is_all` is set. `response` is the id of the stored response, if there is one.
    pub(super) fn end_with(
        &mut self,
        items: impl IntoIterator<Item = HeldItem>,
        is_all: bool,
        response: Option<&str>,
    ) {
        let history = self.history.with(items);
        let is_known = match self.open.take() {
            Some(mut open) => open.end(match is_all {
                true => Ending::History(history.clone()),
                false => Ending::AtLeast(history.clone()),
            }),
            None => is_all,
        };
        if let Some(id) = response.filter(|_| is_known) {
            self.memory.put_response(&self.name(id), history);
        }
    }

    fn name(&self, id: &str) -> Name {
        Name::new(&self.account, id)
    }
}
