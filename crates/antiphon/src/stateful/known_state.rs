//! The state that a turn continues, in the memory of its client.

use std::sync::Arc;

use super::history::History;
use super::ledger::{Attempt, Ending, Version};
use super::memory::{Memory, OpenTurn};
use super::recent::Name;
use super::request::Continues;

/// The state that a turn continues, in the memory of its client.
#[derive(Debug)]
pub(super) struct KnownState {
    memory: Memory,
    account: Arc<str>,
    continues: Continues,
    /// The open turn of its conversation. Dropping it makes the state stale.
    open: Option<OpenTurn>,
}

impl KnownState {
    pub(super) fn new(memory: &Memory, account: &str, continues: &Continues) -> Self {
        let (account, continues) = (account.into(), continues.clone());
        Self { memory: memory.clone(), account, continues, open: None }
    }

    /// Starts the turn on the known history; `None` if that is unknown, stale, or has an open turn.
    pub(super) fn enter(&mut self) -> Option<History> {
        match &self.continues {
            Continues::Nothing => Some(History::default()),
            Continues::Unclear => None,
            Continues::Response(id) => self.response(id),
            Continues::Conversation(id) => {
                let (open, history) = self.memory.enter(&self.name(id))?;
                self.open = Some(open);
                Some(history)
            }
        }
    }

    /// The version of the known conversation, before the server is asked for its items.
    pub(super) fn version(&self) -> Option<Version> {
        match &self.continues {
            Continues::Conversation(id) => Some(self.memory.version(&self.name(id))),
            _ => None,
        }
    }

    /// Starts the turn on the items that the server listed, requested at version `since`. `is_done`
    /// is false for a response that is still running.
    pub(super) fn enter_listed(
        &mut self,
        listed: History,
        since: Option<Version>,
        is_done: bool,
    ) -> History {
        match (&self.continues, since) {
            (Continues::Conversation(id), Some(since)) => {
                let (open, history) = self.memory.enter_listed(&self.name(id), since, listed);
                self.open = Some(open);
                return history;
            }
            (Continues::Response(id), _) if is_done => {
                self.memory.put_response(&self.name(id), listed.clone());
            }
            _ => {}
        }
        listed
    }

    /// Starts the turn on the inputs and outputs of earlier turns, because the server does not list
    /// its items.
    pub(super) fn enter_unlisted(&mut self) -> History {
        let Continues::Conversation(id) = &self.continues else { return History::default() };
        let (open, received) = self.memory.enter_unlisted(&self.name(id));
        self.open = Some(open);
        received
    }

    /// Whether the turn is an open turn of a conversation.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The known history of a response.
    pub(super) fn response(&self, id: &str) -> Option<History> {
        self.memory.response(&self.name(id))
    }

    /// Whether an earlier attempt of the same request added its input to the conversation.
    pub(super) fn is_input_stored(&self, request: u128, history: &History) -> bool {
        let Continues::Conversation(id) = &self.continues else { return false };
        let attempt = self.memory.attempt(&self.name(id), request);
        attempt.is_some_and(|attempt| attempt.stored_its_input(history))
    }

    /// Records that items of the conversation are deleted for the turn.
    pub(super) fn record_deletion(&mut self) {
        if let Some(open) = &mut self.open {
            open.record_deletion();
        }
    }

    /// Records the request that is sent. `None` if the client will not repeat it: the server
    /// rejected it, or accepted it in the background. The client polls a background response, so an
    /// equal request later is a turn of its own.
    pub(super) fn record_attempt(&mut self, attempt: Option<Attempt>) {
        if let Some(open) = &mut self.open {
            open.attempt = attempt;
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

    /// Ends the turn with this history, which is complete if `is_all` is set. `response` is the id
    /// of the stored response, if there is one.
    pub(super) fn end_with(&mut self, history: History, is_all: bool, response: Option<&str>) {
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
