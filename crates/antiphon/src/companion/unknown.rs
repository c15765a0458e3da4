//! Signs in an input that a server holds more than is known.

use std::collections::HashSet;

use super::history::History;
use crate::item::{CallKey, Item, Side};

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
