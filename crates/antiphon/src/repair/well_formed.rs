//! Recognizes lists that need no repair, in one pass.

use std::collections::HashMap;

use super::call_ids::is_overlong;
use super::{Policy, may_be_model_made};
use crate::faults::Fault;
use crate::item::{CallIdField, CallKey, Head, Item, ItemId, Kind, Side};

/// Whether a repair certainly changes nothing. If that takes more than one look at each item, the
/// answer is no.
pub fn is_well_formed(items: &[Item], policy: &Policy) -> bool {
    let mut scan = Scan { policy, ids: HashMap::new(), calls: HashMap::new(), awaits_item: false };
    items.iter().all(|item| scan.accepts(item)) && scan.is_complete()
}

struct Scan<'a> {
    policy: &'a Policy,
    /// The ids so far. The value is true for reasoning.
    ids: HashMap<&'a ItemId, bool>,
    /// The calls so far. The value is true if the call is answered.
    calls: HashMap<CallKey, bool>,
    /// Whether the last item is reasoning, which an item of the model has to follow.
    awaits_item: bool,
}

impl<'a> Scan<'a> {
    fn accepts(&mut self, item: &'a Item) -> bool {
        let head = item.head();
        let is_reasoning = head.kind == Kind::Reasoning;
        let continues = !self.awaits_item || is_reasoning || may_be_model_made(head);
        self.awaits_item = is_reasoning;
        let is_simple = head.kind != Kind::ItemReference
            && head.kind.call_id_field() != CallIdField::CallIdOrId;
        continues
            && is_simple
            && !item.lacks_id()
            && !item.lacks_call_id()
            && self.accepts_id(item)
            && self.accepts_pair(head)
    }

    fn accepts_id(&mut self, item: &'a Item) -> bool {
        let head = item.head();
        let Some(id) = &head.id else { return Fault::check_empty_id(item).is_none() };
        let reasoning = self.policy.made_with.get(id);
        reasoning.is_none_or(|reasoning| self.ids.get(reasoning) == Some(&true))
            && Fault::check_id_form(&head.kind, id).is_none()
            && self.ids.insert(id, head.kind == Kind::Reasoning).is_none()
    }

    fn accepts_pair(&mut self, head: &Head) -> bool {
        match head.pairing() {
            None => true,
            Some((Side::Call, key)) => {
                !is_overlong(&key.call_id) && self.calls.insert(key, false).is_none()
            }
            Some((Side::Output, key)) => {
                let is_answered = self.calls.get_mut(&key);
                is_answered.is_some_and(|is_answered| !std::mem::replace(is_answered, true))
            }
        }
    }

    fn is_complete(&self) -> bool {
        let mut calls = self.calls.iter();
        let are_answered =
            calls.all(|(key, is_answered)| *is_answered || !key.kind.must_be_answered());
        are_answered && !self.awaits_item
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::given::{call, item, output, reasoning, user};

    fn is_accepted(items: &[Item]) -> bool {
        is_well_formed(items, &Policy::default())
    }

    #[test]
    fn ordinary_turns_are_well_formed() {
        let answer = item(r#"{"id":"msg_1","type":"message","role":"assistant","content":"Hi"}"#);
        let search = item(r#"{"id":"ws_1","type":"web_search_call","status":"completed"}"#);
        let turns = [
            user("hi"),
            answer,
            user("hi"),
            reasoning("rs_1"),
            call("call_1", "{}"),
            call("call_2", "{}"),
            output("call_1", "one"),
            output("call_2", "two"),
            reasoning("rs_2"),
            search,
        ];
        assert!(is_accepted(&turns));
        assert!(!is_accepted(&turns[..9]), "nothing follows the reasoning");
        assert!(!is_accepted(&turns[..7]), "a call is open");
        assert!(!is_accepted(&turns[6..]), "an output has no call");
        assert!(!is_accepted(&[&turns[..2], &turns[1..2]].concat()), "an id is used twice");
    }

    #[test]
    fn item_without_its_reasoning_is_not_well_formed() {
        let answer = item(r#"{"id":"msg_1","type":"message","role":"assistant","content":"Hi"}"#);
        let made_with = HashMap::from([("msg_1".into(), "rs_1".into())]);
        let policy = Policy { made_with, ..Policy::default() };
        let all = [user("hi"), reasoning("rs_1"), answer];
        assert!(is_well_formed(&all, &policy));
        assert!(!is_well_formed(&all[2..], &policy));
    }
}
