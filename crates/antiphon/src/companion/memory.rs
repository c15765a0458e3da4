//! What a companion remembers, shared by all its turns.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::history::History;
use super::ledger::{Ledger, Version};
use super::recent::{Name, Recent};
use super::retry::Attempt;
use super::underway::{Ending, Underway};

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
        let conversations = Recent::with_room(ROOM, Ledger::is_idle);
        let responses = Recent::with_room(ROOM, |_| true);
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
        memory.conversations.weigh(name, history.length());
        (self.underway(name, version), history)
    }

    /// Begins a turn of a conversation of which the server does not tell what it holds, on what was heard
    /// of it.
    pub(super) fn enter_untold(&self, name: &Name) -> (Underway, History) {
        let mut memory = self.lock();
        let ledger = memory.ledger(name);
        ledger.begin();
        (self.underway(name, None), ledger.heard().clone())
    }

    /// A turn of the conversation is over, which was planned on this version. Whether all is known of the
    /// conversation by it.
    pub(super) fn end(&self, name: &Name, on: Option<Version>, ending: Ending) -> bool {
        let mut memory = self.lock();
        let fresh = Version::of(memory.stamp());
        let Some(ledger) = memory.conversations.used(name) else { return false };
        ledger.end();
        match ending {
            Ending::Nothing => false,
            Ending::InDoubt(attempt) => {
                ledger.leave(attempt, fresh);
                false
            }
            Ending::HoldsAtLeast(history) => {
                let length = history.length();
                ledger.hear(history, fresh);
                memory.conversations.weigh(name, length);
                false
            }
            Ending::Holds(history) => {
                let length = history.length();
                let is_all = ledger.conclude(on, history, fresh);
                memory.conversations.weigh(name, length);
                is_all
            }
        }
    }

    /// The latest turn of the conversation, if nobody knows whether the server has it and its request was
    /// this one.
    pub(super) fn left(&self, name: &Name, request: u128) -> Option<Attempt> {
        let mut memory = self.lock();
        let left = memory.conversations.used(name)?.left();
        left.filter(|attempt| attempt.request == request).cloned()
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
        memory.responses.put(name, history, weight);
    }

    /// What was known of a response is no longer so.
    pub(super) fn forget_response(&self, name: &Name) {
        self.lock().responses.remove(name);
    }

    fn underway(&self, name: &Name, version: Option<Version>) -> Underway {
        Underway::of(self.clone(), name.clone(), version)
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
