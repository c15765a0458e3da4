//! What of a request's input is new.
//!
//! Clients re-send what the state's owner already holds: whole histories with and without ids, the
//! last user message before a tool's output, calls beside their outputs. [`reconcile`] tells for
//! every item whether it is re-sent, and by which rule, in this order: the same item id; the same
//! call (kind and `call_id`, and where servers repeat call ids, the order); instructions that are
//! held already; then, for messages without ids, alignment as a *sequence*. Equal text alone never
//! counts: people repeat themselves.
//!
//! What is held may be held elsewhere ([`Body::Elsewhere`](crate::Body)): heads and fingerprints find
//! what bodies find. Only two things need bodies: that another call comes under a used `call_id`,
//! which then counts as the held one, and a compaction that comes back without its id, which then
//! counts as new. And of what is no message nobody can say whether it differs.
//!
//! A made-up output is none that a client has. Its real output is new, and the made-up text, which a
//! client may have learnt from a list, is re-sent; so is an output that a held message carries.
//!
//! Limits, where a client is taken at its word: a trimmed window of a history with no id, call or
//! output in it; users' messages that were edited or left out behind the last of them; assistants'
//! messages that were edited, and reasoning that comes back without its id, which are new. And one input fits two readings: every text that the
//! user has said so far, from the first, and more behind them. It counts as a replay.

mod alignment;
mod calls;
mod identity;
mod instructions;
mod known;
mod late;
mod talk;
#[cfg(test)]
mod tests;

use crate::item::{FingerprintKey, Item};
use crate::transcript::Transcript;

/// What becomes of one incoming item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is new.
    Fresh,
    /// It is new, under an id that the owner holds for something else: it gets another id.
    FreshUnderUsedId,
    /// New instructions in place of the latest held ones of their role.
    Supersedes,
    /// It is new: the real output of a call that a [made-up](crate::made_up) one answered.
    LateOutput {
        /// Where the made-up output is held. It is to be deleted, or the real one to be told in a
        /// message.
        made_up: usize,
    },
    /// The owner holds it.
    Resent(Resent),
    /// The owner held it and was told to delete it.
    Deleted,
    /// It stands in this input already, at the position given.
    Duplicate(usize),
}

/// How an item was found to be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resent {
    /// Where in the transcript.
    pub held: usize,
    /// By which rule.
    pub rule: Rule,
    /// Whether it says something else than what is held, which is kept.
    pub differs: bool,
}

/// A rule by which an item is known to be re-sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The same item id.
    SameId,
    /// The same kind and `call_id`.
    SameCall,
    /// Equal instructions.
    SameInstructions,
    /// A message without an id, in its place in a replayed history.
    Replayed,
}

impl Rule {
    /// The rule's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::SameId => "same_id",
            Self::SameCall => "same_call",
            Self::SameInstructions => "same_instructions",
            Self::Replayed => "replayed",
        }
    }
}

impl Verdict {
    /// Where the item is held, where it is re-sent.
    pub(crate) fn held_at(self) -> Option<usize> {
        match self {
            Self::Resent(resent) => Some(resent.held),
            _ => None,
        }
    }

    /// Whether the item enters the transcript.
    pub fn is_fresh(self) -> bool {
        matches!(
            self,
            Self::Fresh | Self::FreshUnderUsedId | Self::Supersedes | Self::LateOutput { .. }
        )
    }
}

/// Tells what of `incoming` the owner of `transcript` does not have. One verdict an item, in order.
/// Linear in both.
pub fn reconcile(transcript: &Transcript, incoming: &[Item], key: FingerprintKey) -> Vec<Verdict> {
    let mut known = known::by_id_and_call(transcript, incoming, key);
    instructions::compare(transcript, incoming, key, &mut known);
    alignment::align(transcript, incoming, key, &mut known);
    known.iter().map(|known| known.verdict).collect()
}
