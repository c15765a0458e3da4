//! One added item and its state.

use serde::{Deserialize, Serialize};

use crate::item::Item;

/// One added item. The same item added twice is two occurrences: users repeat themselves.
///
/// Numbered from 0 in the order of addition; the numbers are stable when a tracker is restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Occurrence(pub(super) u64);

/// The occurrence with this number, which a tracker may not have.
impl From<u64> for Occurrence {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

impl Occurrence {
    /// The occurrence's number.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// One request to the model. A retry is another attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Attempt(pub(super) u64);

/// The attempt with this number, which a tracker may not have.
impl From<u64> for Attempt {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

impl Attempt {
    /// The attempt's number.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// The state of an occurrence.
///
/// ```text
///            send              accept
/// Pending ---------> Sent ----------------> Accepted
///    ^                |                        ^
///    '---- rewind ----'       an echo: --------'
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OccurrenceState {
    /// It waits for a request.
    Pending,
    /// It is in a request without a response so far.
    Sent(Attempt),
    /// The server has it.
    Accepted,
}

/// A tracker's record of an occurrence. An accepted one needs no item any more.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Entry {
    Pending(Queued),
    Sent(Queued, Attempt),
    Accepted,
}

/// An item that the server is not known to have.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Queued {
    pub(super) item: Item,
    /// Whether it is part of the run's initial input, which a response may echo.
    pub(super) is_initial: bool,
}

impl Entry {
    pub(super) fn state(&self) -> OccurrenceState {
        match self {
            Self::Pending(_) => OccurrenceState::Pending,
            Self::Sent(_, attempt) => OccurrenceState::Sent(*attempt),
            Self::Accepted => OccurrenceState::Accepted,
        }
    }

    /// The item if it is not accepted, in flight or not.
    pub(super) fn queued(&self) -> Option<&Queued> {
        match self {
            Self::Pending(queued) | Self::Sent(queued, _) => Some(queued),
            Self::Accepted => None,
        }
    }

    pub(super) fn pending(&self) -> Option<&Queued> {
        match self {
            Self::Pending(queued) => Some(queued),
            Self::Sent(..) | Self::Accepted => None,
        }
    }

    /// Marks a pending entry as sent.
    pub(super) fn send(&mut self, attempt: Attempt) {
        *self = match std::mem::replace(self, Self::Accepted) {
            Self::Pending(queued) => Self::Sent(queued, attempt),
            other => other,
        };
    }

    /// Makes the entry pending again if `attempt` sent it. Returns whether it did.
    pub(super) fn rewind(&mut self, attempt: Attempt) -> bool {
        if self.state() != OccurrenceState::Sent(attempt) {
            return false;
        }
        if let Self::Sent(queued, _) = std::mem::replace(self, Self::Accepted) {
            *self = Self::Pending(queued);
        }
        true
    }
}
