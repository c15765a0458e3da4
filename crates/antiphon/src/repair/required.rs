//! Repairs items whose reasoning is missing: providers refuse them under their ids.

use std::collections::{HashMap, HashSet};

use super::ids::repair_id;
use super::{Draft, Policy};
use crate::faults::Fault;
use crate::item::{Head, ItemId, Kind};

/// Maps the id of each item to the id of the reasoning that the model produced it with.
///
/// An item belongs to the latest reasoning before it, if no input of the client and no compaction
/// comes between them. `sequence` has to be the original sequence of the items, because a list
/// without the reasoning does not show this.
pub fn made_with<'a>(
    sequence: impl IntoIterator<Item = (&'a Head, Option<&'a ItemId>)>,
) -> HashMap<ItemId, ItemId> {
    let mut made_with = HashMap::new();
    let mut reasoning: Option<&ItemId> = None;
    for (head, id) in sequence {
        if head.kind == Kind::Reasoning {
            reasoning = id;
        } else if !head.is_model_made() || head.kind == Kind::Compaction {
            reasoning = None;
        } else if let (Some(id), Some(reasoning)) = (id, reasoning) {
            made_with.insert(id.clone(), reasoning.clone());
        }
    }
    made_with
}

/// Removes the ids of items whose reasoning is missing. Without an id, an item needs no reasoning.
pub(super) fn repair(draft: &mut Draft, policy: &Policy) {
    if policy.made_with.is_empty() {
        return;
    }
    for (position, id, reasoning) in missing_reasoning(draft, policy) {
        let kind = draft.item(position).head().kind.clone();
        let fault = Fault::MissingReasoning { id: id.clone(), kind, reasoning };
        repair_id(draft, position, fault, &id, 1);
    }
}

fn missing_reasoning(draft: &Draft, policy: &Policy) -> Vec<(usize, ItemId, ItemId)> {
    let mut present = HashSet::new();
    let mut missing_reasoning = Vec::new();
    for (position, item) in draft.items() {
        let Some(id) = &item.head().id else { continue };
        match policy.made_with.get(id) {
            Some(reasoning) if !present.contains(reasoning) => {
                missing_reasoning.push((position, id.clone(), reasoning.clone()));
            }
            _ => {}
        }
        if item.head().kind == Kind::Reasoning {
            present.insert(id);
        }
    }
    missing_reasoning
}
