//! The memory of a client, shared by all its turns.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::history::History;
use super::ledger::{Attempt, Ending, Ledger, Version};
use super::recent::{Name, Recent};

/// The maximum number of items for conversations, and the same for chains: some tens of megabytes.
const ROOM: usize = 200_000;

/// The most recently used conversations and chains.
#[derive(Clone)]
pub(super) struct Memory(Arc<Mutex<Remembered>>);

struct Remembered {
    conversations: Recent<Ledger>,
    /// The history of each response: the complete input of the model, and its output.
    responses: Recent<History>,
    stamps: u64,
}

impl Memory {
    pub(super) fn new() -> Self {
        let conversations = Recent::with_room(ROOM, Ledger::is_idle);
        let responses = Recent::with_room(ROOM, |_| true);
        Self(Arc::new(Mutex::new(Remembered { conversations, responses, stamps: 0 })))
    }

    /// A number that was not used before.
    pub(super) fn stamp(&self) -> u64 {
        self.lock().stamp()
    }

    /// Starts a turn of a conversation, if all its items are known and it has no other open turn.
    pub(super) fn enter(&self, name: &Name) -> Option<(OpenTurn, History)> {
        let (history, version) = self.lock().ledger(name).enter()?;
        Some((self.open_turn(name, Some(version)), history))
    }

    /// The version of the known state of a conversation, before the server is asked for its items.
    pub(super) fn version(&self, name: &Name) -> Version {
        self.lock().ledger(name).version()
    }

    /// Starts a turn of a conversation whose items the server listed, requested at version `since`.
    pub(super) fn enter_listed(
        &self,
        name: &Name,
        since: Version,
        listed: History,
    ) -> (OpenTurn, History) {
        let mut memory = self.lock();
        let fresh = memory.stamp();
        let (history, version) = memory.ledger(name).enter_listed(since, listed, fresh);
        memory.conversations.weigh(name, history.length());
        (self.open_turn(name, version), history)
    }

    /// Starts a turn of a conversation whose items the server does not list, on the inputs and
    /// outputs of its earlier turns.
    pub(super) fn enter_unlisted(&self, name: &Name) -> (OpenTurn, History) {
        let received = self.lock().ledger(name).enter_unlisted();
        (self.open_turn(name, None), received)
    }

    /// The latest turn of the conversation, if it had this request and it is unknown whether the
    /// server has it.
    pub(super) fn attempt(&self, name: &Name, request: u128) -> Option<Attempt> {
        let mut memory = self.lock();
        let attempt = memory.conversations.used(name)?.attempt();
        attempt.filter(|attempt| attempt.request == request).cloned()
    }

    /// Records a change of the conversation by a request that is not a turn.
    pub(super) fn mark_stale(&self, name: &Name) {
        let mut memory = self.lock();
        let fresh = memory.stamp();
        if let Some(ledger) = memory.conversations.used(name) {
            ledger.mark_stale(fresh);
        }
    }

    /// The history of a response.
    pub(super) fn response(&self, name: &Name) -> Option<History> {
        self.lock().responses.used(name).cloned()
    }

    /// Records the history of a response.
    pub(super) fn put_response(&self, name: &Name, history: History) {
        let weight = history.weight();
        self.lock().responses.put(name, history, weight);
    }

    /// Drops the history of a response.
    pub(super) fn forget_response(&self, name: &Name) {
        self.lock().responses.remove(name);
    }

    fn open_turn(&self, name: &Name, version: Option<Version>) -> OpenTurn {
        let (memory, name) = (self.clone(), name.clone());
        OpenTurn { memory, name, version, state: State::Unchanged, attempt: None }
    }

    fn lock(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Remembered {
    fn stamp(&mut self) -> u64 {
        self.stamps += 1;
        self.stamps
    }

    fn ledger(&mut self, name: &Name) -> &mut Ledger {
        let fresh = self.stamp();
        self.conversations.used_or(name, || Ledger::unknown(fresh))
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memory(…)")
    }
}

/// An open turn of a conversation. If it is dropped without an ending, the known state of the
/// conversation becomes stale.
#[derive(Debug)]
pub(super) struct OpenTurn {
    memory: Memory,
    name: Name,
    /// The version of the state that the turn was planned on; `None` if that state is stale.
    version: Option<Version>,
    state: State,
    /// The sent request, if it is unknown whether the server has it. `None` as well if the client
    /// will not repeat the request: the server rejected it, or accepted it in the background. The
    /// client polls a background response, so an equal request later is a turn of its own.
    pub(super) attempt: Option<Attempt>,
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

impl OpenTurn {
    /// Records that items of the conversation are deleted for the turn.
    pub(super) fn record_deletion(&mut self) {
        self.state = State::Changed;
    }

    /// Ends the turn: its request has changed nothing.
    pub(super) fn end_unchanged(mut self) {
        self.attempt = None;
        if self.state == State::Unchanged {
            self.end(Ending::Unchanged);
        }
    }

    /// Ends the turn with this result. Returns whether all items of the conversation are known now.
    pub(super) fn end(&mut self, ending: Ending) -> bool {
        self.state = State::Ended;
        let mut memory = self.memory.lock();
        let fresh = memory.stamp();
        let Some(ledger) = memory.conversations.used(&self.name) else { return false };
        let is_all = ledger.end(self.version, ending, fresh);
        let weight = ledger.length();
        memory.conversations.weigh(&self.name, weight);
        is_all
    }
}

impl Drop for OpenTurn {
    fn drop(&mut self) {
        if self.state != State::Ended {
            let attempt = self.attempt.take();
            self.end(Ending::Unknown(attempt));
        }
    }
}
