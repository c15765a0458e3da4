//! The choice between several ways to repair a fault.

use std::collections::{HashMap, HashSet};

use super::Draft;
use crate::faults::{Fault, Refusal};
use crate::item::ItemId;
use crate::strip::OnAnswer;

/// Decides how to repair faults for which there is a choice. [`repair`](super::repair) uses the
/// default. There is only one way to repair the faults that are not named here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Calls without an output.
    pub unanswered_calls: OnUnansweredCall,
    /// Reasoning that no item of the model follows. If only a repair caused that, the reasoning is
    /// always left out and never rejected.
    pub lone_reasoning: OnLoneReasoning,
    /// Outputs without an earlier call in the list. Outputs without a `call_id` are rejected, too,
    /// but never kept.
    pub outputs_without_call: OnOutputWithoutCall,
    /// Items without an id that their kind needs, or with an empty one. Reasoning of which nothing
    /// is left and references without an id are left out if nothing is rejected.
    pub missing_ids: OnMissingId,
    /// Approvals and outputs of a local shell, if a server holds the conversation and its items are
    /// unknown ([`Held::Unknown`](super::Held::Unknown)).
    pub answers: OnAnswer,
    /// References to ids that are not among [`known_ids`](Self::known_ids).
    pub unresolved_references: OnUnresolvedReference,
    /// The ids that references may name: those of the items that the receiver of the list holds.
    pub known_ids: HashSet<ItemId>,
    /// For each item the reasoning that the model produced it with, if known: see
    /// [`made_with`](super::made_with). If that reasoning does not precede the item in the list,
    /// the item goes without its id.
    pub made_with: HashMap<ItemId, ItemId>,
}

/// How to repair a call without an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUnansweredCall {
    /// Insert a [placeholder output](crate::placeholder). A call that was cut short, or whose kind
    /// has no placeholder output, is left out.
    #[default]
    Answer,
    /// Leave the call out, and with it reasoning that only the call followed.
    Drop,
    /// Reject the list.
    Reject,
}

/// How to repair reasoning that no item of the model follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoneReasoning {
    /// Leave it out.
    #[default]
    Drop,
    /// Reject the list.
    Reject,
}

/// How to repair an output without a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnOutputWithoutCall {
    /// Leave it out.
    #[default]
    Drop,
    /// Keep it, because the receiver of the list may hold the call.
    Keep,
    /// Reject the list.
    Reject,
}

/// How to repair an item without an id that its kind needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMissingId {
    /// Give it an id that depends only on its bytes.
    #[default]
    Add,
    /// Leave it out. A call or an output gets an id, because its other half needs it.
    Drop,
    /// Reject the list.
    Reject,
}

/// How to repair a reference to an unknown item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUnresolvedReference {
    /// Keep it, because the receiver of the list may hold the item.
    #[default]
    Keep,
    /// Leave it out.
    Drop,
    /// Reject the list.
    Reject,
}

/// The fault for which the policy rejects a list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.refusal().message)]
pub struct Refused {
    /// The item's position in the given list; `None` for an item that the server holds.
    pub position: Option<usize>,
    /// The item's id, if it has one.
    pub id: Option<ItemId>,
    /// The fault.
    pub fault: Fault,
}

impl Refused {
    /// The provider's own error for the fault. The fault of a held item never concerns a field, so
    /// its error names no position.
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
            Fault::MissingCallId { kind } | Fault::EmptyCallId { kind } => {
                kind.call().is_some() && self.outputs_without_call == OnOutputWithoutCall::Reject
            }
            Fault::MissingId { .. } => self.missing_ids == OnMissingId::Reject,
            Fault::MalformedId { id, .. } if id.as_str().is_empty() => {
                self.missing_ids == OnMissingId::Reject
            }
            Fault::UnresolvedReference { .. } => {
                self.unresolved_references == OnUnresolvedReference::Reject
            }
            _ => false,
        }
    }

    /// The fault that a provider names first, among those that the policy rejects.
    pub(super) fn refusal_of(&self, draft: &Draft) -> Option<Refused> {
        let repair = draft.first_fault(|fault| self.rejects(fault))?;
        Some(Refused {
            position: draft.position_in_list(repair.position),
            id: repair.id.clone(),
            fault: repair.fault.clone(),
        })
    }
}
