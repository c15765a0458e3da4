//! The engine over JSON texts, shared by the packages for Python and Node.
//!
//! Items are passed as the text of a JSON array. Results refer to unchanged items by their
//! position, so that a package can return its caller's own objects. The engine makes all decisions
//! about items.

mod conversion;
mod finding;
pub mod history;
mod item_verdict;
mod policy;
mod repaired_items;
mod tracker;

use antiphon::Item;
use antiphon::item::ListError;
use antiphon::json::Object;
use antiphon::reconcile;
use antiphon::repair;
use antiphon::strip::Marker;
use bytes::Bytes;

pub use conversion::{Conversion, ConversionRefused, Converted, Event, OsIds, convert};
pub use finding::Finding;
pub use item_verdict::ItemVerdict;
pub use policy::{CHOICES, UnknownPolicy, policy};
pub use repaired_items::{RepairedItem, RepairedItems};
pub use tracker::{
    ExcludedItem, OccurrenceState, Plan, Planned, Tracker, TrackerError, UnansweredCall, Unresolved,
};

/// An argument that is not an array of items.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{argument}: {reason}")]
pub struct InvalidArgument {
    /// The argument.
    pub argument: &'static str,
    /// The fault.
    pub reason: ListError,
}

impl InvalidArgument {
    /// The position of an element that is not an item; `None` if the argument is not an array.
    pub fn position(&self) -> Option<usize> {
        match self.reason {
            ListError::NotAnArray(_) => None,
            ListError::Item { position, .. } => Some(position),
        }
    }
}

/// The reason why a list is not repaired.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RepairError {
    /// An argument is not an array of items.
    #[error(transparent)]
    InvalidArgument(#[from] InvalidArgument),
    /// The policy is unknown.
    #[error(transparent)]
    Policy(#[from] UnknownPolicy),
    /// The policy rejects the list. The message is the provider's error text.
    #[error("{}", .0.message)]
    Refused(Box<Finding>),
}

/// The faults that a provider would refuse in `items`, in the provider's order. With `held`,
/// `items` are checked as the continuation of the items that a server stores. References to unknown
/// items may stand for the calls of outputs.
pub fn check(items: &Bytes, held: Option<&Bytes>) -> Result<Vec<Finding>, InvalidArgument> {
    let items = parse_items("items", items)?;
    let transcript = held.map(transcript).transpose()?;
    let findings = history::check(&items, history::before(&items, transcript.as_ref()));
    Ok(findings.iter().map(Finding::from_fault).collect())
}

/// Repairs `items` with a policy. With `held`, they continue the items that a server stores.
pub fn repair(
    items: &Bytes,
    held: Option<&Bytes>,
    policy: &str,
) -> Result<RepairedItems, RepairError> {
    let policy = self::policy(policy)?;
    let items = parse_items("items", items)?;
    let transcript = held.map(transcript).transpose()?;
    let before = history::before(&items, transcript.as_ref());
    match history::repair(&items, before, &policy) {
        Ok(continuation) => Ok(RepairedItems::from_continuation(continuation)),
        Err(refused) => Err(RepairError::Refused(Box::new(Finding::from_refusal(&refused)))),
    }
}

/// Removes lone reasoning and nothing else.
pub fn filter_orphaned_reasoning(items: &Bytes) -> Result<RepairedItems, InvalidArgument> {
    let repaired = repair::filter_orphaned_reasoning(&parse_items("items", items)?);
    Ok(RepairedItems::from_continuation(history::continuation(repaired)))
}

/// The field of `request`, a JSON object, that makes it continue the state of a server; `None` if
/// there is none.
pub fn marker(request: &Bytes) -> Result<Option<&'static str>, InvalidArgument> {
    let request = Object::parse(request).map_err(|error| InvalidArgument {
        argument: "request",
        reason: ListError::NotAnArray(error.to_string()),
    })?;
    Ok(Marker::from_request(&request).map(Marker::field))
}

/// Removes the items of a request with a [`marker`] that its server already stores, judged by the
/// items alone.
pub fn strip(items: &Bytes, policy: &str) -> Result<RepairedItems, RepairError> {
    let answers = self::policy(policy)?.answers;
    let stripped = repair::leave_out_held(&parse_items("items", items)?, answers);
    Ok(RepairedItems::from_continuation(stripped))
}

/// Decides for each of `items` whether the owner of `held` stores it.
pub fn reconcile(held: &Bytes, items: &Bytes) -> Result<Vec<ItemVerdict>, InvalidArgument> {
    let transcript = transcript(held)?;
    let items = parse_items("items", items)?;
    let verdicts = reconcile::reconcile(&transcript, &items, history::KEY);
    Ok(verdicts.into_iter().map(ItemVerdict::from_verdict).collect())
}

fn transcript(held: &Bytes) -> Result<antiphon::Transcript, InvalidArgument> {
    let items: Vec<Item> = parse_items("held", held)?;
    Ok(history::transcript(&items))
}

/// The items of an argument.
pub(crate) fn parse_items(
    argument: &'static str,
    text: &Bytes,
) -> Result<Vec<Item>, InvalidArgument> {
    antiphon::item::parse_items(text).map_err(|reason| InvalidArgument { argument, reason })
}
