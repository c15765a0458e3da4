//! Items that a model made with reasoning are refused under their ids where the reasoning is
//! missing.

use std::collections::{HashMap, HashSet};

use super::ids::mend_id;
use super::{Draft, Policy};
use crate::faults::Fault;
use crate::item::{Head, ItemId, Kind};

/// Which reasoning each item was made with, both by their ids: what stands behind reasoning, up to
/// where a caller speaks, was made with it; behind a compaction, from what that says. A list that
/// lacks the reasoning does not tell; the sequence that the items come from does.
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

/// Takes the ids of items whose reasoning is not there. An item without an id stands for itself.
pub(super) fn mend(draft: &mut Draft, policy: &Policy) {
    if policy.made_with.is_empty() {
        return;
    }
    for (position, id, reasoning) in bereft(draft, policy) {
        let kind = draft.item(position).head().kind.clone();
        let fault = Fault::MissingReasoning { id: id.clone(), kind, reasoning };
        mend_id(draft, position, fault, &id, 1);
    }
}

fn bereft(draft: &Draft, policy: &Policy) -> Vec<(usize, ItemId, ItemId)> {
    let mut present = HashSet::new();
    let mut bereft = Vec::new();
    for (position, item) in draft.items() {
        let Some(id) = &item.head().id else { continue };
        match policy.made_with.get(id) {
            Some(reasoning) if !present.contains(reasoning) => {
                bereft.push((position, id.clone(), reasoning.clone()));
            }
            _ => {}
        }
        if item.head().kind == Kind::Reasoning {
            present.insert(id);
        }
    }
    bereft
}
