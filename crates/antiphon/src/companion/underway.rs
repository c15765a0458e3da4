//! A turn of a conversation that is on its way.

use super::history::History;
use super::ledger::Version;
use super::memory::Memory;
use super::recent::Name;
use super::retry::Attempt;

/// A turn of a conversation that is on its way. Unless it is told how it ended, what the conversation
/// holds is in doubt once this is dropped.
#[derive(Debug)]
pub(super) struct Underway {
    memory: Memory,
    name: Name,
    /// What the turn was planned on; `None` where nobody can be sure of it.
    version: Option<Version>,
    /// Whether something of the conversation was deleted for the turn.
    has_deleted: bool,
    /// What was sent of which nobody knows whether the server has it.
    attempt: Option<Attempt>,
    has_ended: bool,
}

/// What a turn left in its conversation.
#[derive(Debug)]
pub(super) enum Ending {
    /// Nobody knows; perhaps an attempt that its client makes again.
    InDoubt(Option<Attempt>),
    /// What was there.
    Nothing,
    /// This, if nothing else has come meanwhile.
    Holds(History),
    /// This, and perhaps more, since the server does not tell.
    HoldsAtLeast(History),
}

impl Underway {
    pub(super) fn of(memory: Memory, name: Name, version: Option<Version>) -> Self {
        let (has_deleted, has_ended) = (false, false);
        Self { memory, name, version, has_deleted, attempt: None, has_ended }
    }

    /// Something of the conversation is deleted for the turn.
    pub(super) fn deletes(&mut self) {
        self.has_deleted = true;
    }

    /// The request is sent.
    pub(super) fn sends(&mut self, attempt: Attempt) {
        self.attempt = Some(attempt);
    }

    /// The server refused what was sent.
    pub(super) fn is_refused(&mut self) {
        self.attempt = None;
    }

    /// The server takes what was sent, whoever hears of it. Its client asks for the response then, and
    /// what it sends is a turn of its own, though it says the same.
    pub(super) fn is_taken(&mut self) {
        self.attempt = None;
    }

    /// The request of the turn has changed nothing.
    pub(super) fn untouched(mut self) {
        self.attempt = None;
        if !self.has_deleted {
            self.end(Ending::Nothing);
        }
    }

    /// The conversation holds this now, if nothing else has come meanwhile: whether that is so.
    pub(super) fn holds(mut self, history: History) -> bool {
        self.end(Ending::Holds(history))
    }

    /// The conversation holds this now, and perhaps more.
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
