//! Detects inputs which show that the server has more items than are known.

use std::collections::HashSet;

use super::Plan;
use crate::item::{CallKey, Head, Item, Role, Side};
use crate::transcript::Transcript;

/// Whether the input has model items with unknown ids, or outputs for unknown calls. Then another
/// client may have continued the conversation.
pub(super) fn in_input(input: &[Item], held: &Transcript) -> bool {
    let mut called: HashSet<CallKey> = HashSet::new();
    input.iter().any(|item| {
        let head = item.head();
        let is_made_elsewhere =
            head.is_model_made() && head.id.as_ref().is_some_and(|id| held.position(id).is_none());
        let is_answer_to_nothing = match head.pairing() {
            Some((Side::Call, key)) => {
                called.insert(key);
                false
            }
            Some((Side::Output, key)) => !called.contains(&key) && held.exchange(&key).is_none(),
            None => false,
        };
        is_made_elsewhere || is_answer_to_nothing
    })
}

/// Whether a resent history continues after the known items with more than one turn adds: an
/// assistant message, several user messages, or an output and a user message.
///
/// Only such signs show that the server may have these items already: without ids it would store
/// them a second time.
pub(super) fn in_plan(plan: &Plan) -> bool {
    let fresh = || plan.fresh.iter().filter(|it| !it.is_placeholder()).map(|it| &it.head);
    let says = |role: Role| {
        fresh().filter(|head| head.id.is_none() && head.speaker() == Some(role)).count()
    };
    let is_output = |head: &Head| matches!(head.pairing(), Some((Side::Output, _)));
    let users = says(Role::User);
    let is_more = says(Role::Assistant) > 0 || users > 1 || users == 1 && fresh().any(is_output);
    plan.report.resent > 0 && is_more
}
