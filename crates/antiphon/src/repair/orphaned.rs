//! Removes orphaned reasoning from histories in which nothing else may change.

use super::{Action, Draft, Repaired, reasoning};
use crate::faults::Fault;
use crate::item::{Item, Role};
use crate::json::Object;

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
    let lone = reasoning::lone_reasoning(draft.items());
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
