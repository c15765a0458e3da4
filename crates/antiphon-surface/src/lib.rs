//! The engine over JSON texts: what the Python and Node packages share.
//!
//! Items come as the text of an array; what comes back names those that stay by their position, so
//! that whoever holds them as objects of its language keeps the very objects. Nothing here decides
//! about an item: that is the engine's.

mod conversion;
mod finding;
pub mod history;
mod judged;
mod mended;
mod policy;
mod tracker;
mod unreadable;

use antiphon::Item;
use antiphon::reconcile;
use antiphon::repair;
use bytes::Bytes;

pub use conversion::{Conversion, ConversionRefused, Converted, Event, OsIds};
pub use finding::Finding;
pub use judged::Judged;
pub use mended::{Mended, Place};
pub use policy::{CHOICES, UnknownPolicy, policy};
pub use tracker::{
    LeftOut, Plan, Planned, Standing, Tracker, TrackerError, Unanswered, Unresolved,
};
pub use unreadable::Unreadable;

use unreadable::items_of;

/// Why a list is not mended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RepairError {
    /// An argument is no array of items.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The policy is none.
    #[error(transparent)]
    Policy(#[from] UnknownPolicy),
    /// The policy rejects the list for this, in the provider's words.
    #[error("{}", .0.message)]
    Refused(Box<Finding>),
}

/// What a provider would refuse in `items`, in the order in which it would name it; with `held`, as
/// the continuation of what a server holds. References to what is in neither may name the calls of
/// outputs.
pub fn check(items: &Bytes, held: Option<&Bytes>) -> Result<Vec<Finding>, Unreadable> {
    let items = items_of("items", items)?;
    let transcript = held.map(transcript).transpose()?;
    let findings = history::check(&items, history::before(&items, transcript.as_ref()));
    Ok(findings.iter().map(Finding::of_fault).collect())
}

/// Mends `items` as [`policy`] has it; with `held`, as the continuation of what a server holds.
pub fn repair(items: &Bytes, held: Option<&Bytes>, policy: &str) -> Result<Mended, RepairError> {
    let policy = self::policy(policy)?;
    let items = items_of("items", items)?;
    let transcript = held.map(transcript).transpose()?;
    let before = history::before(&items, transcript.as_ref());
    match history::repair(&items, before, &policy) {
        Ok(continuation) => Ok(Mended::of(continuation)),
        Err(refused) => Err(RepairError::Refused(Box::new(Finding::of_refusal(&refused)))),
    }
}

/// Leaves out orphaned reasoning and nothing else.
pub fn filter_orphaned_reasoning(items: &Bytes) -> Result<Mended, Unreadable> {
    let repaired = repair::filter_orphaned_reasoning(&items_of("items", items)?);
    Ok(Mended::of(history::continuation(repaired)))
}

/// Leaves out what a server that holds the conversation holds, as far as kinds tell.
pub fn strip(items: &Bytes) -> Result<Mended, Unreadable> {
    Ok(Mended::of(repair::leave_out_held(&items_of("items", items)?)))
}

/// Tells of each of `items` whether the owner of `held` has it.
pub fn reconcile(held: &Bytes, items: &Bytes) -> Result<Vec<Judged>, Unreadable> {
    let transcript = transcript(held)?;
    let items = items_of("items", items)?;
    let verdicts = reconcile::reconcile(&transcript, &items, history::KEY);
    Ok(verdicts.into_iter().map(Judged::of).collect())
}

fn transcript(held: &Bytes) -> Result<antiphon::Transcript, Unreadable> {
    let items: Vec<Item> = items_of("held", held)?;
    Ok(history::transcript(&items))
}
