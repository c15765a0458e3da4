//! The items of an input that a server refused.

use std::collections::HashMap;

use crate::faults::{OmissionReason, StateError};
use crate::item::{Item, ItemId};

/// The items that a server refuses, by the ids in its error. Its list of items does not always show
/// this: it also refuses an item of another conversation, and a reference to an expired item.
#[derive(Clone, Debug, Default)]
pub struct RefusedItems {
    /// Items to leave out.
    left_out: HashMap<ItemId, OmissionReason>,
    /// Items to send without their ids, because their reasoning is missing.
    pub made_with: HashMap<ItemId, ItemId>,
}

impl RefusedItems {
    /// The consequences of this error for the next attempt.
    pub fn from_error(fault: &StateError) -> Self {
        let mut objections = Self::default();
        let mut leave_out = |id: &String, why| {
            objections.left_out.insert(ItemId::from(id.clone()), why);
        };
        match fault {
            StateError::DuplicateItem(id) => leave_out(id, OmissionReason::HeldElsewhere),
            StateError::UnknownItem(id) => leave_out(id, OmissionReason::Unknown),
            StateError::LoneReasoning(id) => leave_out(id, OmissionReason::LoneReasoning),
            StateError::WithoutReasoning { item, reasoning } => {
                let (item, reasoning) = (item.clone().into(), reasoning.clone().into());
                objections.made_with.insert(item, reasoning);
            }
            StateError::UnansweredCall(_)
            | StateError::OutputWithoutCall(_)
            | StateError::Locked
            | StateError::UnknownResponse => {}
        }
        objections
    }

    /// The items of the input to leave out, by their positions.
    pub fn omissions(&self, input: &[Item]) -> HashMap<usize, OmissionReason> {
        let reason = |item: &Item| self.left_out.get(item.head().id.as_ref()?).copied();
        let omissions = input.iter().enumerate();
        omissions.filter_map(|(position, item)| Some((position, reason(item)?))).collect()
    }
}
