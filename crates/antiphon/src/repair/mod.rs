//! Mends what a provider would refuse, in the view that is sent and not in what is stored.
//!
//! Laws: after a repair [`check`] finds nothing; a well-formed list is unchanged, byte for byte;
//! repairing twice changes nothing more; the order of what stays is kept; time is linear.

mod behind;
mod calls;
mod draft;
mod held;
mod ids;
mod names;
mod orphaned;
mod policy;
mod reasoning;
mod references;
mod required;
#[cfg(test)]
mod tests;

pub use behind::{Unmendable, repair_behind, unmendable};
pub use held::{Continuation, Finding, Held, check_held, leave_out_held, repair_held};
pub use orphaned::filter_orphaned_reasoning;
pub use policy::{
    OnLoneReasoning, OnOutputWithoutCall, OnUnansweredCall, OnUnresolvedReference, Policy, Refused,
};
pub(crate) use reasoning::may_be_the_models;
pub use required::made_with;

use crate::faults::Fault;
use crate::item::{Item, ItemId};
use draft::Draft;

/// A list of items that a provider accepts, and what it took to get there.
#[derive(Clone, Debug, PartialEq)]
pub struct Repaired {
    /// The items to send.
    pub items: Vec<Item>,
    /// For each of them the position at which it was given; `None` where it was changed or made.
    pub sources: Vec<Option<usize>>,
    /// What was mended: first faults of an item's own form, then those of items with each other,
    /// as a provider looks for them; last, what only followed from another mend.
    pub mends: Vec<Mend>,
}

/// One fault and what was done about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mend {
    /// The item's position in the list that was given.
    pub position: usize,
    /// The item's id, where it has one.
    pub id: Option<ItemId>,
    /// What a provider would have refused.
    pub fault: Fault,
    /// What was done.
    pub action: Action,
}

/// What a repair does about a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The item is left out.
    Dropped,
    /// An output that says that there is none was put behind the call.
    Answered,
    /// The item goes without its id.
    IdRemoved,
    /// The item goes under another id, because its kind cannot go without.
    IdReplaced,
    /// The call and its output go under another `call_id`.
    Renamed,
    /// The output gave way to a later one of the same call.
    Replaced,
}

impl Action {
    /// The action's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Answered => "answered",
            Self::IdRemoved => "id_removed",
            Self::IdReplaced => "id_replaced",
            Self::Renamed => "renamed",
            Self::Replaced => "replaced",
        }
    }
}

/// What a provider would refuse in `items`, in the order in which it would name it: the first is
/// what it answers.
pub fn check(items: &[Item]) -> Vec<(usize, Fault)> {
    let faults = mended(items, 0, &Policy::default()).into_faults().into_iter();
    faults.map(|mend| (mend.position, mend.fault)).collect()
}

/// Mends `items`. Items that need no change keep their bytes.
pub fn repair(items: &[Item]) -> Repaired {
    mended(items, 0, &Policy::default()).into_repaired()
}

/// Mends `items` as `policy` has it, or refuses them for what a provider would name first of what
/// the policy rejects.
///
/// The laws above hold for every policy that rejects nothing and keeps no output without a call.
pub fn repair_with(items: &[Item], policy: &Policy) -> Result<Repaired, Refused> {
    let draft = mended(items, 0, policy);
    match policy.refusal_of(&draft) {
        Some(refused) => Err(refused),
        None => Ok(draft.into_repaired()),
    }
}

/// The draft of `items`, the first `held` of which are a server's.
///
/// Calls first: what ids of theirs remain twice then belongs to two calls. Reasoning last: it needs
/// what is left behind it.
fn mended(items: &[Item], held: usize, policy: &Policy) -> Draft {
    let mut draft = Draft::behind(held, items);
    calls::mend(&mut draft, policy);
    ids::mend(&mut draft);
    references::mend(&mut draft, policy);
    reasoning::mend(&mut draft, items);
    required::mend(&mut draft, policy);
    draft
}
