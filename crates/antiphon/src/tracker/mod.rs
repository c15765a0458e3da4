//! Tracks the items of a run whose conversation state a server owns.
//!
//! A run that continues a server's conversation or chain of responses sends only new items. The
//! tracker decides which items are new:
//!
//! ```text
//! add ---> plan ---> send ---> accept     the response arrived: the server has the items
//!            ^        '------> rewind     the request failed: the items are sent again
//!            '------------------'
//! ```
//!
//! Every item has its own [`Occurrence`]: an item that is added twice is sent twice, and an item
//! that the server has accepted is never sent again. A tracker is a value that can be serialized at
//! any time, even with requests in flight. After an interruption, [`Tracker::hydrate`] finds out
//! from the server's list of items which of them arrived.
//!
//! ```
//! use antiphon::Item;
//! use antiphon::tracker::{ContinuationOptions, ReasoningIds, Tracker};
//!
//! let conversation = Some("conv_1".into());
//! let options = ContinuationOptions { conversation_id: conversation, ..Default::default() };
//! let continuation = options.choose().unwrap().unwrap();
//! let mut tracker = Tracker::new(continuation, ReasoningIds::Keep);
//! tracker.add(Item::parse(r#"{"role":"user","content":"Hello"}"#.into()).unwrap()).unwrap();
//!
//! let attempt = tracker.send(&tracker.plan().occurrences()).unwrap();
//! tracker.accept(attempt, None, &[]).unwrap();
//! assert!(tracker.plan().items.is_empty());
//! ```

mod attempt;
mod continuation;
mod entry;
mod filter;
mod identity;
mod known;
mod plan;
mod snapshot;
#[cfg(test)]
mod tests;
mod unresolved;

use std::collections::BTreeMap;

pub use attempt::{NotInFlight, SendError};
pub use continuation::{
    ConflictingOptions, Continuation, ContinuationOptions, ConversationId, ResponseId,
};
pub use entry::{Attempt, Occurrence, OccurrenceState};
pub use filter::{AmbiguousRebuild, Returned};
pub use identity::{
    APPROVAL_PLACEHOLDER, EqualItems, PLACEHOLDER_ID, ReasoningIds, is_approval_placeholder,
    server_id,
};
pub use plan::{Plan, Planned, Reason};
pub use snapshot::SnapshotError;
pub use unresolved::{UnansweredCall, Unresolved};

use crate::item::Item;
use attempt::SentItem;
use entry::{Entry, Queued};
use known::Known;

/// The items that one run has sent to the owner of its conversation's state, and the items that it
/// still has to send.
///
/// Guarantees: an accepted item is never planned again; a pending item stays pending until it is
/// accepted, through failures, filters and restarts; plans keep the order of [`add`](Self::add).
#[derive(Clone, Debug)]
pub struct Tracker {
    continuation: Continuation,
    reasoning_ids: ReasoningIds,
    /// Indexed by occurrence.
    entries: Vec<Entry>,
    known: Known,
    /// The items of each unanswered request, as sent.
    in_flight: BTreeMap<Attempt, Vec<SentItem>>,
    attempts: u64,
    turns: u64,
    is_finished: bool,
}

/// The run has ended: no item can be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot add an item: the run has finished")]
pub struct RunFinished;

impl Tracker {
    /// Creates the tracker of a run that has not sent anything yet.
    pub fn new(continuation: Continuation, reasoning_ids: ReasoningIds) -> Self {
        Self {
            continuation,
            reasoning_ids,
            entries: Vec::new(),
            known: Known::default(),
            in_flight: BTreeMap::new(),
            attempts: 0,
            turns: 0,
            is_finished: false,
        }
    }

    /// Adds an item: initial input, staged input, or a tool output. Items added before the first
    /// response count as initial input.
    pub fn add(&mut self, item: Item) -> Result<Occurrence, RunFinished> {
        if self.is_finished {
            return Err(RunFinished);
        }
        let occurrence = Occurrence(self.entries.len() as u64);
        self.entries.push(Entry::Pending(Queued { item, is_initial: self.turns == 0 }));
        Ok(occurrence)
    }

    /// Changes the treatment of reasoning ids. Call it before the first request.
    pub fn set_reasoning_ids(&mut self, policy: ReasoningIds) {
        self.reasoning_ids = policy;
    }

    /// Ends the run. Pending items stay pending, and [`plan`](Self::plan) still lists them.
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Whether the run has ended.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// The conversation or response that the next request continues.
    pub fn continuation(&self) -> &Continuation {
        &self.continuation
    }

    /// Number of accepted model responses. Failed attempts, resumed runs and approvals do not
    /// count.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// The state of an occurrence; `None` if it is not of this tracker.
    pub fn standing(&self, occurrence: Occurrence) -> Option<OccurrenceState> {
        self.entry(occurrence).map(Entry::state)
    }

    fn entry(&self, occurrence: Occurrence) -> Option<&Entry> {
        self.entries.get(usize::try_from(occurrence.0).ok()?)
    }

    fn entry_mut(&mut self, occurrence: Occurrence) -> Option<&mut Entry> {
        self.entries.get_mut(usize::try_from(occurrence.0).ok()?)
    }

    fn entries(&self) -> impl Iterator<Item = (Occurrence, &Entry)> {
        (0..).map(Occurrence).zip(&self.entries)
    }

    fn entries_mut(&mut self) -> impl Iterator<Item = (Occurrence, &mut Entry)> {
        (0..).map(Occurrence).zip(&mut self.entries)
    }
}
