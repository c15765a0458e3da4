//! What is to be done about faults that can be mended in more than one way.

use std::collections::{HashMap, HashSet};

use super::Draft;
use crate::faults::{Fault, Refusal};
use crate::item::ItemId;

/// What a repair does where there is a choice. The default is that of [`repair`](super::repair).
///
/// Faults that are not named here are mended in the one way that there is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Calls that nobody answered.
    pub unanswered_calls: OnUnansweredCall,
    /// Reasoning that nothing of the model's follows. What became so only because another item was
    /// left out goes with it, and is never a reason to refuse.
    pub lone_reasoning: OnLoneReasoning,
    /// Outputs that no earlier call of the list asked for.
    pub outputs_without_call: OnOutputWithoutCall,
    /// References to what is not among [`known_ids`](Self::known_ids).
    pub unresolved_references: OnUnresolvedReference,
    /// The ids that references may name: those of the items that whoever gets the list holds.
    pub known_ids: HashSet<ItemId>,
    /// Which reasoning items were made with, as far as it is known: see
    /// [`made_with`](super::made_with). An item whose reasoning is not before it in the list goes
    /// without its id.
    pub made_with: HashMap<ItemId, ItemId>,
}

/// What becomes of a call that nobody answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUnansweredCall {
    /// An output that says that there is none is put behind it. A call that was cut short, or whose
    /// output cannot be made up, is left out.
    #[default]
    Answer,
    /// It is left out, and with it reasoning that only it followed.
    Drop,
    /// The list is refused.
    Reject,
}

/// What becomes of lone reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoneReasoning {
    /// It is left out.
    #[default]
    Drop,
    /// The list is refused.
    Reject,
}

/// What becomes of an output without a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnOutputWithoutCall {
    /// It is left out.
    #[default]
    Drop,
    /// It stays, because whoever gets the list may hold the call.
    Keep,
    /// The list is refused.
    Reject,
}

/// What becomes of a reference to what is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUnresolvedReference {
    /// It stays, because whoever gets the list may hold what it names.
    #[default]
    Keep,
    /// It is left out.
    Drop,
    /// The list is refused.
    Reject,
}

/// A list that was refused, with what a provider would have refused it for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.refusal().message)]
pub struct Refused {
    /// The item's position in the list that was given; `None` for an item that the server holds.
    pub position: Option<usize>,
    /// The item's id, where it has one.
    pub id: Option<ItemId>,
    /// What is wrong with it.
    pub fault: Fault,
}

impl Refused {
    /// The provider's own refusal. Faults of held items are none of a field, so that no position
    /// is told where there is none.
    pub fn refusal(&self) -> Refusal {
        self.fault.refusal(self.position.unwrap_or_default())
    }
}

impl Policy {
    fn rejects(&self, fault: &Fault) -> bool {
        match fault {
            Fault::UnansweredCall { .. } => self.unanswered_calls == OnUnansweredCall::Reject,
            Fault::LoneReasoning { .. } => self.lone_reasoning == OnLoneReasoning::Reject,
            Fault::OutputWithoutCall { .. } => {
                self.outputs_without_call == OnOutputWithoutCall::Reject
            }
            Fault::UnresolvedReference { .. } => {
                self.unresolved_references == OnUnresolvedReference::Reject
            }
            _ => false,
        }
    }

    /// Of the faults that the policy rejects the one that a provider names first.
    pub(super) fn refusal_of(&self, draft: &Draft) -> Option<Refused> {
        let mend = draft.first_fault(|fault| self.rejects(fault))?;
        Some(Refused {
            position: draft.position_in_list(mend.position),
            id: mend.id.clone(),
            fault: mend.fault.clone(),
        })
    }
}
