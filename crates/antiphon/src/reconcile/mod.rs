//! Finds the items of a request that the conversation does not hold yet.
//!
//! Clients resend items that the state owner already has: a full history with or without ids, the
//! last user message before a tool output, a call next to its output. [`reconcile`] gives each
//! incoming item a [`Verdict`]. Rules, in order of precedence:
//!
//! 1. Same item id. A compaction or reasoning without an id is matched by its encrypted content,
//!    and an item that lacks the id that its kind needs by the id that a repair gives it.
//! 2. Same call: kind and `call_id`. If a provider reuses call ids, their order decides.
//! 3. System and developer messages that equal stored ones. From the first changed one on, those at
//!    the start of the input replace the stored ones of their role.
//! 4. User and assistant messages without an id: sequence alignment with the stored messages. The
//!    input may be the whole history, a window of it, or a delta.
//!
//! Equal text alone never makes two messages the same: users repeat themselves.
//!
//! # Placeholder outputs
//!
//! The transcript may hold a [placeholder](crate::placeholder) for a missing output. The real
//! output is then new ([`Verdict::LateOutput`]). A placeholder that a client sends back counts as
//! re-sent, and so does a late output that a stored message already carries.
//!
//! # Limits
//!
//! Where an input can be read in two ways, nothing new is lost. [`Doubts`] names the messages that
//! the transcript may therefore hold twice.
//!
//! - User messages alone that repeat the latest stored ones are new. They are a replay if two of
//!   them differ, if the last of them was never answered, or if the client is known to resend user
//!   messages only ([`ReplayStyle`]).
//! - Within a replay, an edited user message is new, once. An edited assistant message counts as
//!   the stored one ([`Resent::differs`]). Reasoning that comes back without its id is new
//!   if it has no encrypted content.
//!
//! If another owner has the bodies of stored items ([`Body::StoredElsewhere`]), heads and
//! fingerprints identify the same items, with three exceptions:
//!
//! - A different call under a used `call_id` counts as the stored call.
//! - A compaction or reasoning that comes back without its id is new.
//! - A change to an item other than a message is not detected ([`Resent::differs`]).
//!
//! [`Body::StoredElsewhere`]: crate::transcript::Body::StoredElsewhere
//!
//! ```
//! use antiphon::item::{FingerprintKey, parse_items};
//! use antiphon::reconcile::{Verdict, reconcile};
//! use antiphon::{HeldItem, Transcript};
//!
//! let key = FingerprintKey::new([0; 16]);
//! let history = r#"[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi."},
//!     {"role":"user","content":"And now?"}]"#;
//! let incoming = parse_items(&history.into()).unwrap();
//! let held = |(position, item)| HeldItem::new(format!("msg_{position}").into(), item, key, None);
//! let transcript: Transcript = incoming[..2].iter().enumerate().map(held).collect();
//!
//! let verdicts = reconcile(&transcript, &incoming, key);
//! assert!(!verdicts[0].is_fresh() && !verdicts[1].is_fresh());
//! assert_eq!(verdicts[2], Verdict::Fresh);
//! ```

mod admission;
mod alignment;
mod assessment;
mod call_ids;
mod calls;
mod dialogue;
mod identity;
mod instructions;
mod recall;
#[cfg(test)]
mod tests;

pub use admission::{
    Admission, AdmissionMode, AdmissionRules, SAME_REQUEST, StoredInput, Treatment,
};

pub use call_ids::adopt_call_ids;

use crate::item::{FingerprintKey, Item};
use crate::transcript::Transcript;
use assessment::assess_by_id_and_call;

/// The result of [`reconcile`] for one incoming item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The item is new.
    Fresh,
    /// The item is new, but the conversation uses its id for another item: it needs another id.
    FreshUnderUsedId,
    /// New instructions that replace the latest stored ones of their role.
    Replaces,
    /// The real output of a call that a [placeholder](crate::placeholder) answered. The item is
    /// new.
    LateOutput {
        /// Position of the placeholder in the transcript. It has to be deleted, or a message has
        /// to carry the real output.
        placeholder: usize,
    },
    /// The transcript holds the item.
    Resent(Resent),
    /// The transcript held the item, and it was deleted.
    Deleted,
    /// The input already has the item, at this earlier position.
    Duplicate(usize),
}

/// A stored item that an incoming item repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resent {
    /// Position in the transcript.
    pub held: usize,
    /// The rule that found it.
    pub rule: Rule,
    /// Whether the incoming item's content differs from the stored one. The stored item wins.
    pub differs: bool,
}

/// A rule that identifies an incoming item as re-sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The same item id.
    SameId,
    /// The same kind and `call_id`.
    SameCall,
    /// A system or developer message with equal content.
    SameInstructions,
    /// A message without an id, at its position in a replayed history.
    Replayed,
}

impl Rule {
    /// The rule's name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SameId => "same_id",
            Self::SameCall => "same_call",
            Self::SameInstructions => "same_instructions",
            Self::Replayed => "replayed",
        }
    }
}

impl Verdict {
    /// The position of the stored item that this one repeats.
    pub(crate) fn held_at(self) -> Option<usize> {
        match self {
            Self::Resent(resent) => Some(resent.held),
            _ => None,
        }
    }

    /// Whether the item becomes part of the transcript.
    pub fn is_fresh(self) -> bool {
        matches!(
            self,
            Self::Fresh | Self::FreshUnderUsedId | Self::Replaces | Self::LateOutput { .. }
        )
    }
}

/// The comparison of an input with the transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reconciliation {
    /// One verdict per item of the input, in order.
    pub verdicts: Vec<Verdict>,
    /// The messages whose verdict has an alternative.
    pub doubts: Doubts,
}

/// Messages that are new, although another reading of the input is possible. Nothing is lost in
/// these cases, but the transcript may hold a message twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Doubts {
    /// Positions of messages at the start of the input that equal the latest stored ones. They may
    /// be a replay, but nothing except their text shows it.
    pub repeated: Vec<usize>,
    /// Positions of messages within a replay that equal no stored message: the client edited or
    /// added them.
    pub unrecognized: Vec<usize>,
}

/// How a client resends the history of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayStyle {
    /// Unknown. User messages alone are new unless more than one of them repeats stored ones.
    #[default]
    Unknown,
    /// The client resends user messages and leaves assistant messages out, as the AI SDK does next
    /// to `conversation`. User messages that repeat the latest stored ones are a replay if
    /// something new follows.
    UsersOnly,
}

impl ReplayStyle {
    /// The style of a client that sends this `User-Agent`.
    ///
    /// The providers of the AI SDK name its parts, as in `ai/7.0.173 ai-sdk-provider-utils/5.0.81`
    /// or, before version 7, `ai/5.0.9 ai-sdk/openai/2.0.10`.
    pub fn from_user_agent(name: &str) -> Self {
        match name.split_ascii_whitespace().any(|product| product.starts_with("ai-sdk")) {
            true => Self::UsersOnly,
            false => Self::Unknown,
        }
    }
}

impl Reconciliation {
    /// Compares `incoming` with `transcript`. Takes time linear in the transcript and the input.
    ///
    /// `key` has to be the one that the transcript's fingerprints were computed with.
    pub fn new(
        transcript: &Transcript,
        incoming: &[Item],
        key: FingerprintKey,
        style: ReplayStyle,
    ) -> Self {
        let mut assessments = assess_by_id_and_call(transcript, incoming, key);
        instructions::compare(transcript, incoming, key, &mut assessments);
        let doubts = alignment::align(transcript, incoming, key, style, &mut assessments);
        let verdicts = assessments.iter().map(|assessment| assessment.verdict).collect();
        Self { verdicts, doubts }
    }
}

/// The verdicts on `incoming` of a client whose [`ReplayStyle`] is unknown. See
/// [`Reconciliation::new`].
pub fn reconcile(transcript: &Transcript, incoming: &[Item], key: FingerprintKey) -> Vec<Verdict> {
    Reconciliation::new(transcript, incoming, key, ReplayStyle::Unknown).verdicts
}
