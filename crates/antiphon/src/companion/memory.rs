//! What a companion remembers, shared by all its turns.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::history::History;
use super::ledger::{Ledger, Version};
use super::recent::{Name, Recent};

/// How many items are remembered, conversations and chains each: some tens of megabytes.
const ROOM: usize = 200_000;

/// The conversations and the chains that were used last.
#[derive(Clone)]
pub(super) struct Memory(Arc<Mutex<Remembered>>);

struct Remembered {
    conversations: Recent<Ledger>,
    /// What each response stands for: all that a model was given with it, and its output.
    responses: Recent<History>,
    stamps: u64,
}

/// What is known of a conversation for a turn of it.
pub(super) enum Entered {
    /// All that it holds.
    Known(Underway, History),
    /// It is to be asked for.
    Unknown,
}

impl Memory {
    pub(super) fn new() -> Self {
        let (conversations, responses) = (Recent::with_room(ROOM), Recent::with_room(ROOM));
        Self(Arc::new(Mutex::new(Remembered { conversations, responses, stamps: 0 })))
    }

    /// A number that was not given before.
    pub(super) fn stamp(&self) -> u64 {
        self.lock().stamp()
    }

    /// Begins a turn of a conversation, if all is known of it and no other turn of it is on its way.
    pub(super) fn enter(&self, name: &Name) -> Entered {
        let mut memory = self.lock();
        let ledger = memory.ledger(name);
        match ledger.enter() {
            Some((history, version)) => Entered::Known(self.underway(name, Some(version)), history),
            None => Entered::Unknown,
        }
    }

    /// The version of what is known of a conversation that is about to be asked for.
    pub(super) fn version(&self, name: &Name) -> Version {
        self.lock().ledger(name).version()
    }

    /// Begins a turn of a conversation of which the server told what it holds, asked at version `since`.
    pub(super) fn learnt(&self, name: &Name, since: Version, told: History) -> (Underway, History) {
        let mut memory = self.lock();
        let fresh = Version::of(memory.stamp());
        let (history, version) = memory.ledger(name).learn(since, told, fresh);
        memory.conversations.weigh(name, history.length(), Ledger::is_idle);
        (self.underway(name, version), history)
    }

    /// Begins a turn of a conversation of which the server does not tell what it holds.
    pub(super) fn enter_unknown(&self, name: &Name) -> Underway {
        self.lock().ledger(name).begin();
        self.underway(name, None)
    }

    /// Something else changed the conversation.
    pub(super) fn doubt(&self, name: &Name) {
        let mut memory = self.lock();
        let fresh = Version::of(memory.stamp());
        if let Some(ledger) = memory.conversations.used(name) {
            ledger.doubt(fresh);
        }
    }

    /// What a response stands for.
    pub(super) fn response(&self, name: &Name) -> Option<History> {
        self.lock().responses.used(name).cloned()
    }

    /// A response stands for this.
    pub(super) fn know_response(&self, name: &Name, history: History) {
        let mut memory = self.lock();
        let weight = history.weight();
        memory.responses.put(name, history);
        memory.responses.weigh(name, weight, |_| true);
    }

    /// What was known of a response is no longer so.
    pub(super) fn forget_response(&self, name: &Name) {
        self.lock().responses.remove(name);
    }

    fn underway(&self, name: &Name, version: Option<Version>) -> Underway {
        let ending = Ending::InDoubt;
        Underway { memory: self.clone(), name: name.clone(), version, has_deleted: false, ending }
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
        let fresh = Version::of(self.stamp());
        self.conversations.used_or(name, || Ledger::unknown(fresh))
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memory(…)")
    }
}

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
    ending: Ending,
}

/// What a turn left in its conversation.
#[derive(Debug)]
enum Ending {
    InDoubt,
    Nothing,
    Holds(History),
}

impl Underway {
    /// Something of the conversation is deleted for the turn.
    pub(super) fn deletes(&mut self) {
        self.has_deleted = true;
    }

    /// The request of the turn has changed nothing.
    pub(super) fn untouched(mut self) {
        if !self.has_deleted {
            self.ending = Ending::Nothing;
        }
    }

    /// The conversation holds this now.
    pub(super) fn holds(mut self, history: History) {
        self.ending = Ending::Holds(history);
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        let mut memory = self.memory.lock();
        let fresh = Version::of(memory.stamp());
        let Some(ledger) = memory.conversations.used(&self.name) else { return };
        ledger.end();
        match std::mem::replace(&mut self.ending, Ending::InDoubt) {
            Ending::Nothing => {}
            Ending::InDoubt => ledger.doubt(fresh),
            Ending::Holds(history) => {
                let length = history.length();
                ledger.conclude(self.version, history, fresh);
                memory.conversations.weigh(&self.name, length, Ledger::is_idle);
            }
        }
    }
}
