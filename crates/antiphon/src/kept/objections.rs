//! What a server refused of an input.

use std::collections::HashMap;

use crate::faults::{LeftOut, StateError};
use crate::item::ItemId;

/// What of an input a server refuses, by the ids that it named. What it lists need not say so: it refuses
/// an item of another conversation, and a reference to what it has forgotten.
#[derive(Clone, Debug, Default)]
pub struct Objections {
    /// Items that are to be left out.
    left_out: HashMap<ItemId, LeftOut>,
    /// Items whose reasoning is missing, so that they go without their ids.
    pub made_with: HashMap<ItemId, ItemId>,
}

impl Objections {
    /// What follows from this refusal for the next attempt.
    pub fn to(fault: &StateError) -> Self {
        let mut objections = Self::default();
        let mut leave_out = |id: &String, why| {
            objections.left_out.insert(ItemId::from(id.clone()), why);
        };
        match fault {
            StateError::DuplicateItem(id) => leave_out(id, LeftOut::HeldElsewhere),
            StateError::UnknownItem(id) => leave_out(id, LeftOut::Unknown),
            StateError::LoneReasoning(id) => leave_out(id, LeftOut::LoneReasoning),
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

    /// Why the item of this id is to be left out, if it is.
    pub fn to_item(&self, id: Option<&ItemId>) -> Option<LeftOut> {
        self.left_out.get(id?).copied()
    }
}
