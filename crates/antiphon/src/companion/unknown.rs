//! Signs in an input that a server holds more than is known.

use std::collections::HashSet;

use super::history::History;
use super::planning::Plan;
use crate::item::{CallKey, Head, Item, Role, Side};

/// Whether the input has items of the model's under ids that are not known, or outputs for calls that
/// nobody has heard of: another client may have gone on in the conversation.
pub(super) fn in_input(input: &[Item], history: &History) -> bool {
    let held = history.transcript();
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

/// Whether a replay goes on behind what is known with more than one turn brings: an assistant's words,
/// several of the user's, or an output and a message behind it. Of what has no id nobody else notices
/// that it is held: the server would take it a second time.
pub(super) fn in_plan(plan: &Plan) -> bool {
    let came = || plan.fresh.iter().filter(|it| !it.is_made_up()).map(|it| &it.head);
    let says = |role: Role| {
        came().filter(|head| head.id.is_none() && head.speaker() == Some(role)).count()
    };
    let is_output = |head: &Head| matches!(head.pairing(), Some((Side::Output, _)));
    let users = says(Role::User);
    let is_more = says(Role::Assistant) > 0 || users > 1 || users == 1 && came().any(is_output);
    plan.report.resent > 0 && is_more
}
