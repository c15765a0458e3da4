//! An open turn of a conversation.

use super::history::History;
use super::ledger::Version;
use super::memory::Memory;
use super::recent::Name;
use super::retry::Attempt;

/// An open turn of a conversation. If it is dropped without an ending, the known state of the
/// conversation becomes stale.
#[derive(Debug)]
pub(super) struct OpenTurn {
    memory: Memory,
    name: Name,
    /// The version of the state that the turn was planned on; `None` if that state is stale.
    version: Option<Version>,
    state: State,
    /// The sent request, if it is unknown whether the server has it.
    attempt: Option<Attempt>,
}

/// The state of an open turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The turn has deleted nothing.
    Unchanged,
    /// The turn has deleted items of the conversation.
    Changed,
    Ended,
}

/// The state of the conversation after a turn.
#[derive(Debug)]
pub(super) enum Ending {
    /// Unknown. The client may repeat the attempt, if there is one.
    Unknown(Option<Attempt>),
    /// Unchanged.
    Unchanged,
    /// This history, unless something else changed the conversation in the meantime.
    History(History),
    /// This history and perhaps more, because the server does not list its items.
    AtLeast(History),
}

impl OpenTurn {
    pub(super) fn new(memory: Memory, name: Name, version: Option<Version>) -> Self {
        Self { memory, name, version, state: State::Unchanged, attempt: None }
    }

    /// Records that items of the conversation are deleted for the turn.
    pub(super) fn record_deletion(&mut self) {
        self.state = State::Changed;
    }

    /// Records that the request is sent.
    pub(super) fn record_attempt(&mut self, attempt: Attempt) {
        self.attempt = Some(attempt);
    }

    /// Records that the client will not repeat the request: the server rejected it, or accepted it
    /// in the background. The client polls a background response, so an equal request later is a
    /// turn of its own.
    pub(super) fn withdraw_attempt(&mut self) {
        self.attempt = None;
    }

    /// Ends the turn: its request has changed nothing.
    pub(super) fn end_unchanged(mut self) {
        self.attempt = None;
        if self.state == State::Unchanged {
            self.end(Ending::Unchanged);
        }
    }

    /// Ends the turn: the conversation has this history. Returns false if something else changed
    /// the conversation in the meantime.
    pub(super) fn end_with(mut self, history: History) -> bool {
        self.end(Ending::History(history))
    }

    /// Ends the turn: the conversation has this history, and perhaps more.
    pub(super) fn end_with_at_least(mut self, history: History) {
        self.end(Ending::AtLeast(history));
    }

    fn end(&mut self, ending: Ending) -> bool {
        self.state = State::Ended;
        self.memory.end(&self.name, self.version, ending)
    }
}

impl Drop for OpenTurn {
    fn drop(&mut self) {
        if self.state != State::Ended {
            let ending = Ending::Unknown(self.attempt.take());
            self.end(ending);
        }
    }
}
