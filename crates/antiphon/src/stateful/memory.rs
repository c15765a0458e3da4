//! The memory of a client, shared by all its turns.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::history::History;
use super::ledger::{Ledger, Version};
use super::open_turn::{Ending, OpenTurn};
use super::recent::{Name, Recent};
use super::retry::Attempt;

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

/// The known state of a conversation at the start of a turn.
pub(super) enum Entered {
    /// All its items.
    Known(OpenTurn, History),
    /// Unknown: the server has to be asked.
    Unknown,
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
    pub(super) fn enter(&self, name: &Name) -> Entered {
        let mut memory = self.lock();
        let ledger = memory.ledger(name);
        match ledger.enter() {
            Some((history, version)) => {
                Entered::Known(self.open_turn(name, Some(version)), history)
            }
            None => Entered::Unknown,
        }
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
        let fresh = Version::new(memory.stamp());
        let (history, version) = memory.ledger(name).enter_listed(since, listed, fresh);
        memory.conversations.weigh(name, history.length());
        (self.open_turn(name, version), history)
    }

    /// Starts a turn of a conversation whose items the server does not list, on the inputs and
    /// outputs of its earlier turns.
    pub(super) fn enter_unlisted(&self, name: &Name) -> (OpenTurn, History) {
        let mut memory = self.lock();
        let ledger = memory.ledger(name);
        ledger.begin();
        (self.open_turn(name, None), ledger.received().clone())
    }

    /// Ends a turn of the conversation that was planned on version `on`. Returns whether all items
    /// of the conversation are known now.
    pub(super) fn end(&self, name: &Name, on: Option<Version>, ending: Ending) -> bool {
        let mut memory = self.lock();
        let fresh = Version::new(memory.stamp());
        let Some(ledger) = memory.conversations.used(name) else { return false };
        ledger.end();
        match ending {
            Ending::Unchanged => false,
            Ending::Unknown(attempt) => {
                ledger.abandon(attempt, fresh);
                false
            }
            Ending::AtLeast(history) => {
                let length = history.length();
                ledger.conclude_unlisted(history, fresh);
                memory.conversations.weigh(name, length);
                false
            }
            Ending::History(history) => {
                let length = history.length();
                let is_all = ledger.conclude(on, history, fresh);
                memory.conversations.weigh(name, length);
                is_all
            }
        }
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
        let fresh = Version::new(memory.stamp());
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
        let mut memory = self.lock();
        let weight = history.weight();
        memory.responses.put(name, history, weight);
    }

    /// Drops the history of a response.
    pub(super) fn forget_response(&self, name: &Name) {
        self.lock().responses.remove(name);
    }

    fn open_turn(&self, name: &Name, version: Option<Version>) -> OpenTurn {
        OpenTurn::new(self.clone(), name.clone(), version)
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
        let fresh = Version::new(self.stamp());
        self.conversations.used_or(name, || Ledger::unknown(fresh))
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memory(…)")
    }
}
