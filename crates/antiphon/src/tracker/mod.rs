//! The tracker of state that a server owns: what it has, what is on its way, what it still lacks.
//!
//! A run that continues a server's conversation or chain sends only what is new. The tracker knows
//! what that is:
//!
//! ```text
//! add ---> plan ---> send ---> accept     the response came: the server has it
//!            ^        '------> rewind     the request failed: it goes again
//!            '------------------'
//! ```
//!
//! Every item has an [`Occurrence`] of its own, so that an item said twice is sent twice and an item
//! sent once is never sent again. A tracker is a value: it serializes at any moment, requests in
//! flight included, and after a break learns from the server's own list what arrived.

mod accept;
mod continuation;
mod entry;
mod filter;
mod identity;
mod known;
mod plan;
mod reasoning;
mod send;
mod snapshot;
#[cfg(test)]
mod tests;
mod unresolved;

use std::collections::BTreeMap;

pub use accept::NotInFlight;
pub use continuation::{
    ConflictingOptions, Continuation, ContinuationOptions, ConversationId, ResponseId,
};
pub use entry::{Attempt, Occurrence, Standing};
pub use filter::{AmbiguousRebuild, Returned};
pub use identity::{APPROVAL_PLACEHOLDER, PLACEHOLDER_ID};
pub(crate) use identity::{Lookalikes, is_approval_placeholder, server_id};
pub use plan::{Plan, Planned, Reason};
pub use reasoning::ReasoningIds;
pub use send::SendError;
pub use snapshot::SnapshotError;
pub use unresolved::{Unanswered, Unresolved};

use crate::item::Item;
use entry::{Entry, Queued};
use known::Known;
use send::Going;

/// What one run has sent to the owner of its conversation's state, and what it still has to send.
///
/// Guarantees: what was accepted is never planned again; what is pending stays so until it is
/// accepted, through failures, filters and restarts; plans keep the order of [`add`](Self::add).
#[derive(Clone, Debug)]
pub struct Tracker {
    continuation: Continuation,
    reasoning_ids: ReasoningIds,
    /// By occurrence.
    entries: Vec<Entry>,
    known: Known,
    /// What each unanswered request contains, as it went.
    in_flight: BTreeMap<Attempt, Vec<Going>>,
    attempts: u64,
    turns: u64,
    is_finished: bool,
}

/// The run has ended: nothing can be added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run has finished: nothing can be added to it")]
pub struct Finished;

impl Tracker {
    /// A tracker of a run that has sent nothing yet.
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

    /// Adds an item: initial input, input that was staged, the output of a tool. What is added
    /// before the first response counts as initial.
    pub fn add(&mut self, item: Item) -> Result<Occurrence, Finished> {
        if self.is_finished {
            return Err(Finished);
        }
        let occurrence = Occurrence(self.entries.len() as u64);
        self.entries.push(Entry::Pending(Queued { item, is_initial: self.turns == 0 }));
        Ok(occurrence)
    }

    /// Ends the run. What is pending stays so, and is still told by [`plan`](Self::plan).
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Whether the run has ended.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// What the next request continues.
    pub fn continuation(&self) -> &Continuation {
        &self.continuation
    }

    /// How many calls of the model were accepted. Failed attempts, resumes and approvals are no
    /// turns.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// How far an occurrence has come; `None` where it is not of this tracker.
    pub fn standing(&self, occurrence: Occurrence) -> Option<Standing> {
        self.entry(occurrence).map(Entry::standing)
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
