//! An open turn of a conversation.

use super::history::History;
use super::ledger::Version;
use super::memory::Memory;
use super::recent::Name;
use super::retry::Attempt;

/// An open turn of a conversation. If it is dropped without an ending, the known state of the
/// conversation becomes uncertain.
#[derive(Debug)]
pub(super) struct Underway {
    memory: Memory,
    name: Name,
    /// The version of the state that the turn was planned on; `None` if that state is uncertain.
    version: Option<Version>,
    /// Whether items of the conversation were deleted for the turn.
    has_deleted: bool,
    /// The sent request, if it is unknown whether the server has it.
    attempt: Option<Attempt>,
    has_ended: bool,
}

/// The state of the conversation after a turn.
#[derive(Debug)]
pub(super) enum Ending {
    /// Unknown. The client may repeat the attempt, if there is one.
    InDoubt(Option<Attempt>),
    /// Unchanged.
    Nothing,
    /// This history, unless something else changed the conversation in the meantime.
    Holds(History),
    /// This history and perhaps more, because the server does not list its items.
    HoldsAtLeast(History),
}

impl Underway {
    pub(super) fn of(memory: Memory, name: Name, version: Option<Version>) -> Self {
        let (has_deleted, has_ended) = (false, false);
        Self { memory, name, version, has_deleted, attempt: None, has_ended }
    }

    /// Records that items of the conversation are deleted for the turn.
    pub(super) fn deletes(&mut self) {
        self.has_deleted = true;
    }

    /// Records that the request is sent.
    pub(super) fn sends(&mut self, attempt: Attempt) {
        self.attempt = Some(attempt);
    }

    /// Records that the server rejected the request.
    pub(super) fn is_refused(&mut self) {
        self.attempt = None;
    }

    /// Records that the server accepted a background request, whether or not the client receives
    /// the answer. The client then polls the response, so an equal request later is a turn of its
    /// own.
    pub(super) fn is_taken(&mut self) {
        self.attempt = None;
    }

    /// Ends the turn: its request has changed nothing.
    pub(super) fn untouched(mut self) {
        self.attempt = None;
        if !self.has_deleted {
            self.end(Ending::Nothing);
        }
    }

    /// Ends the turn: the conversation has this history. Returns false if something else changed
    /// the conversation in the meantime.
    pub(super) fn holds(mut self, history: History) -> bool {
        self.end(Ending::Holds(history))
    }

    /// Ends the turn: the conversation has this history, and perhaps more.
    pub(super) fn holds_at_least(mut self, history: History) {
        self.end(Ending::HoldsAtLeast(history));
    }

    fn end(&mut self, ending: Ending) -> bool {
        self.has_ended = true;
        self.memory.end(&self.name, self.version, ending)
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        if !self.has_ended {
            let ending = Ending::InDoubt(self.attempt.take());
            self.end(ending);
        }
    }
}
