//! Repairs a list of items that a provider would refuse.
//!
//! [`check`] finds the [faults](Fault) of a list, and [`repair`] returns a list that the provider
//! accepts. A repair changes the view that is sent, never the stored items. Steps, in this order:
//!
//! 1. Calls and outputs. A call without a `call_id` gets that of the output, and an output that of
//!    the call, if only one pairing is possible; any other output without one is dropped. An
//!    output without a call is dropped, and so is a copy of a call or of an
//!    output. Of several different outputs for one call, the last stays, also if the call is not in
//!    the list and the policy keeps its outputs. A call that nobody answered gets a [placeholder
//!    output](crate::placeholder), or is dropped if it was cut short or its kind has no
//!    placeholder. A `call_id` that is missing, malformed or used twice is replaced, in the call
//!    and in its output.
//! 2. Item ids. An item without an id that its kind needs gets one; a reference without an id and
//!    reasoning of which nothing is left are dropped. A copy of an item is dropped. An id that is
//!    malformed, empty or belongs to another item is removed, or replaced if the API requires one
//!    for the kind. An item that is useless without its id (a reference, or an item with encrypted
//!    content that is not part of a call) is dropped.
//! 3. References to unknown items are dropped, if the policy asks for it.
//! 4. Reasoning that is not followed by an item of the model is dropped.
//! 5. An item goes without its id if its reasoning is missing ([`Policy::made_with`]).
//!
//! A [`Policy`] drops, keeps or rejects some of these faults instead ([`repair_with`]). If the
//! server stores the conversation and the request carries only new items, use [`repair_after`] or
//! [`repair_held`].
//!
//! # Guarantees
//!
//! They hold for every policy that rejects nothing and keeps no output without a call.
//!
//! - After a repair, [`check`] finds nothing.
//! - A well-formed list stays unchanged, byte for byte.
//! - A second repair changes nothing more.
//! - The remaining items keep their order.
//! - The time is linear in the list.
//!
//! # Limits
//!
//! A fault that a provider is not certain to refuse stays:
//!
//! - Item ids are only checked for the kinds whose form is documented.
//! - An item of an unknown kind may be the model's, so reasoning before it stays.
//!
//! ```
//! use antiphon::item::parse_items;
//! use antiphon::repair::{check, repair};
//!
//! let items = r#"[{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"},
//!     {"role":"user","content":"And now?"}]"#;
//! let repaired = repair(&parse_items(&items.into()).unwrap());
//! assert_eq!(repaired.repairs[0].fault.name(), "unanswered_call");
//! assert_eq!(repaired.items[1].head().kind.as_str(), "function_call_output");
//! assert!(check(&repaired.items).is_empty());
//! ```

mod after;
mod call_ids;
mod calls;
mod draft;
mod held;
mod ids;
mod missing_call_ids;
mod missing_ids;
mod policy;
mod reasoning;
mod reported;
#[cfg(test)]
mod tests;
mod well_formed;

pub use after::{BlockingItem, blocking_items, repair_after};
pub use held::{Finding, Held, RepairedInput, check_held, leave_out_held, repair_held};
pub use missing_ids::repair_missing_ids;
pub use policy::{
    OnLoneReasoning, OnMissingId, OnOutputWithoutCall, OnUnansweredCall, OnUnresolvedReference,
    Policy, Refused,
};
pub(crate) use reasoning::may_be_model_made;
pub use reasoning::{filter_orphaned_reasoning, made_with};
pub use reported::ReportedRepair;
pub(crate) use reported::serialize_kind;
pub use well_formed::is_well_formed;

use crate::faults::Fault;
use crate::item::{Item, ItemId};
pub use crate::strip::OnAnswer;
use draft::Draft;

/// A list of items that a provider accepts, with the repairs that it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Repaired {
    /// The items to send.
    pub items: Vec<Item>,
    /// For each item its position in the given list; `None` if it was changed or added.
    pub sources: Vec<Option<usize>>,
    /// The repairs, in the order in which a provider finds the faults: first those in the form of
    /// single items, then those between items. Repairs that another repair made necessary come
    /// last.
    pub repairs: Vec<Repair>,
}

impl Repaired {
    fn unchanged(items: &[Item]) -> Self {
        let sources = (0..items.len()).map(Some).collect();
        Self { items: items.to_vec(), sources, repairs: Vec::new() }
    }
}

/// A fault and the action that removed it.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair {
    /// The item's position in the given list.
    pub position: usize,
    /// The item's id, if it has one.
    pub id: Option<ItemId>,
    /// The fault that a provider would have refused.
    pub fault: Fault,
    /// The action that removed the fault.
    pub action: Action,
}

/// The action that removes a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The item was left out.
    Dropped,
    /// A placeholder output was inserted after the call.
    Answered,
    /// The item got an id, because the API requires one for its kind.
    IdAdded,
    /// The item's id was removed.
    IdRemoved,
    /// The item's id was replaced, because the API requires one for its kind.
    IdReplaced,
    /// The call or the output got the `call_id` that it lacked.
    CallIdAdded,
    /// Call and output got another `call_id`.
    Renamed,
    /// The output was left out in favour of a later one for the same call.
    Replaced,
}

impl Action {
    /// The action's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Answered => "answered",
            Self::IdAdded => "id_added",
            Self::IdRemoved => "id_removed",
            Self::IdReplaced => "id_replaced",
            Self::CallIdAdded => "call_id_added",
            Self::Renamed => "renamed",
            Self::Replaced => "replaced",
        }
    }
}

/// Finds the faults for which a provider would refuse `items`, each with the position of its item.
/// They are in the provider's order: its answer names the first.
pub fn check(items: &[Item]) -> Vec<(usize, Fault)> {
    let faults = repair_draft(items, Draft::new(items), &Policy::default()).into_faults();
    let faults = faults.into_iter();
    faults.map(|repair| (repair.position, repair.fault)).collect()
}

/// Repairs `items` with the default policy. Items without a fault keep their bytes.
pub fn repair(items: &[Item]) -> Repaired {
    repair_draft(items, Draft::new(items), &Policy::default()).into_repaired()
}

/// Repairs `items` according to `policy`.
///
/// Returns [`Refused`] with the fault that a provider would name first, if the policy rejects one.
pub fn repair_with(items: &[Item], policy: &Policy) -> Result<Repaired, Refused> {
    if is_well_formed(items, policy) {
        return Ok(Repaired::unchanged(items));
    }
    let draft = repair_draft(items, Draft::new(items), policy);
    match policy.refusal_of(&draft) {
        Some(refused) => Err(refused),
        None => Ok(draft.into_repaired()),
    }
}

/// Applies all repairs to the draft of `items`.
///
/// Calls come before ids: an id that is still used twice then belongs to two different calls.
/// Reasoning comes after both, because it depends on the items that remain after it.
fn repair_draft(items: &[Item], mut draft: Draft, policy: &Policy) -> Draft {
    missing_call_ids::repair(&mut draft, policy);
    calls::repair(&mut draft, policy);
    missing_ids::repair(&mut draft, policy);
    ids::repair(&mut draft);
    ids::repair_references(&mut draft, policy);
    reasoning::repair_lone_reasoning(&mut draft, items);
    reasoning::repair_missing_reasoning(&mut draft, policy);
    draft
}
