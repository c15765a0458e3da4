//! Repairs reasoning without the item that has to follow it, and items without their reasoning.

use std::collections::{HashMap, HashSet};

use super::ids::repair_id;
use super::{Action, Draft, Policy, Repaired};
use crate::faults::Fault;
use crate::item::{Head, Item, ItemId, Kind, Role};
use crate::json::Object;

/// Leaves out reasoning that no item of the model follows. If an item did in the `given` list, the
/// repair is a consequence of another one.
pub(super) fn repair_lone_reasoning(draft: &mut Draft, given: &[Item]) {
    let lone_before: HashSet<usize> =
        find_lone_reasoning(given.iter().enumerate()).into_iter().collect();
    for position in find_lone_reasoning(draft.items()) {
        let id = draft.item(position).head().id.clone();
        let fault = Fault::LoneReasoning { id };
        if lone_before.contains(&position) {
            draft.leave_out(position, fault, Action::Dropped);
        } else {
            draft.leave_out_as_consequence(position, fault);
        }
    }
}

/// The positions of reasoning that no item of the model follows.
pub(super) fn find_lone_reasoning<'a>(
    items: impl DoubleEndedIterator<Item = (usize, &'a Item)>,
) -> Vec<usize> {
    let mut lone = Vec::new();
    let mut is_followed = false;
    for (position, item) in items.rev() {
        let head = item.head();
        if head.kind != Kind::Reasoning {
            is_followed = may_be_model_made(head);
        } else if !is_followed {
            lone.push(position);
        }
    }
    lone
}

/// Whether the item may come from a model. A reference may name such an item, and an unknown kind
/// may be a model's. In doubt the answer is yes, so that only certain faults are repaired.
pub(crate) fn may_be_model_made(head: &Head) -> bool {
    match &head.kind {
        Kind::ItemReference => true,
        Kind::Other(name) => !name.ends_with("_output"),
        _ => head.is_model_made(),
    }
}

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
pub(super) fn repair_missing_reasoning(draft: &mut Draft, policy: &Policy) {
    if policy.made_with.is_empty() {
        return;
    }
    for (position, id, reasoning) in find_missing_reasoning(draft, policy) {
        let kind = draft.item(position).head().kind.clone();
        let fault = Fault::MissingReasoning { id: id.clone(), kind, reasoning };
        repair_id(draft, position, fault, &id, 1);
    }
}

fn find_missing_reasoning(draft: &Draft, policy: &Policy) -> Vec<(usize, ItemId, ItemId)> {
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

/// Leaves out orphaned reasoning, the remains of a stream that was cut short. Other faults stay.
///
/// Reasoning is orphaned if no item of the model follows it. The same holds for an assistant
/// message with reasoning and neither text nor tool calls, which is how some frameworks store it. A
/// message without any content does not count as reasoning, and items without an id stay. Filtering
/// twice changes nothing more.
pub fn filter_orphaned_reasoning(items: &[Item]) -> Repaired {
    let mut draft = Draft::new(items);
    let messages: Vec<usize> = draft.items().filter_map(reasoning_only).collect();
    leave_out(&mut draft, messages);
    let lone = find_lone_reasoning(draft.items());
    leave_out(&mut draft, lone);
    draft.into_repaired()
}

fn leave_out(draft: &mut Draft, orphans: Vec<usize>) {
    for position in orphans {
        let id = draft.item(position).head().id.clone();
        if id.is_some() {
            draft.leave_out(position, Fault::LoneReasoning { id }, Action::Dropped);
        }
    }
}

/// The position of an assistant message that contains only reasoning.
fn reasoning_only((position, item): (usize, &Item)) -> Option<usize> {
    if item.head().role != Some(Role::Assistant) {
        return None;
    }
    let message = item.object();
    let has_calls = message.present("tool_calls").is_some_and(|calls| calls != "[]");
    let is_orphan = !has_calls && message.get("content").is_some_and(is_all_reasoning);
    is_orphan.then_some(position)
}

fn is_all_reasoning(content: &str) -> bool {
    let is_reasoning = |part: &Object<'_>| part.string("type").as_deref() == Some("reasoning");
    serde_json::from_str::<Vec<Object<'_>>>(content)
        .is_ok_and(|parts| !parts.is_empty() && parts.iter().all(is_reasoning))
}
