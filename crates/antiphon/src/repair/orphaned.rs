//! Orphaned reasoning alone, for histories in which nothing else may be touched.

use super::{Action, Draft, Repaired, reasoning};
use crate::faults::Fault;
use crate::item::{Item, Role};
use crate::json::Object;

/// Leaves out orphaned reasoning, which is what a stream that was broken off leaves in a history,
/// and touches nothing else: other faults stay as they are.
///
/// Orphaned are reasoning that nothing of the model's follows, and a message of the model that holds
/// reasoning and neither a word nor a tool call, as frameworks keep it. A message without any
/// content is not reasoning, and what has no id is not touched. Filtering twice changes nothing
/// more.
pub fn filter_orphaned_reasoning(items: &[Item]) -> Repaired {
    let mut draft = Draft::of(items);
    let messages: Vec<usize> = draft.items().filter_map(reasoning_only).collect();
    leave_out(&mut draft, messages);
    let lone = reasoning::lone(draft.items());
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

/// The position of a message of the model that holds nothing but reasoning.
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
