//! Drops items from a conversation that is too long for its model.
//!
//! Whole groups are dropped, from the start: first turns, each a user message and all items up to
//! the next one, then the steps of the last turn, each one model output and the outputs of its
//! calls. A call and its output are always in the same group, and so are reasoning and the item
//! after it.
//!
//! These items always stay: instructions and model settings; the last compaction, which summarizes
//! the items before it; the last user message, with the user messages directly before it; and the
//! items that the model has not answered yet, that is, all items after its last output, with the
//! calls that they answer.
//!
//! Guarantees: if [`check`](crate::repair::check) finds no fault before, it finds none after; the
//! remaining items keep their order; a larger excess drops the same items and more. Everything runs
//! in linear time.
//!
//! ```
//! use antiphon::item::parse_items;
//! use antiphon::truncation::cut;
//!
//! let items = r#"[{"role":"user","content":"One?"},{"role":"assistant","content":"1"},
//!     {"role":"user","content":"Two?"}]"#;
//! let items = parse_items(&items.into()).unwrap();
//! let cut = cut(&items, &[10, 10, 10], 5, |_| false);
//! assert_eq!((cut.dropped.as_slice(), cut.weight), (&[0, 1][..], 20));
//! assert_eq!(cut.kept(&items).len(), 1);
//! ```

mod groups;

use self::groups::find_groups;
use crate::item::Item;

/// The items to drop from a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// The positions of the items, in order.
    pub dropped: Vec<usize>,
    /// Their total weight.
    pub weight: u64,
}

impl Cut {
    /// The remaining items of the list that the cut was computed for.
    pub fn kept(&self, items: &[Item]) -> Vec<Item> {
        let mut dropped = self.dropped.iter().copied().peekable();
        let stays = |(position, _): &(usize, &Item)| dropped.next_if_eq(position).is_none();
        items.iter().enumerate().filter(stays).map(|(_, item)| item.clone()).collect()
    }
}

/// Drops groups from the start until their total weight is at least `excess`, or no group is left.
/// `weights` has the weight of each item, in the unit of `excess`. `stays` selects further items
/// that must stay, such as a summary of dropped ones.
pub fn cut(items: &[Item], weights: &[u64], excess: u64, stays: impl Fn(&Item) -> bool) -> Cut {
    let mut cut = Cut::default();
    for group in find_groups(items, stays) {
        if cut.weight >= excess {
            break;
        }
        cut.weight += group.iter().map(|&position| weights[position]).sum::<u64>();
        cut.dropped.extend(group);
    }
    cut.dropped.sort_unstable();
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::given::{bare_assistant, call, output, reasoning, system, user};

    /// The positions that remain after dropping at least `excess` items.
    fn left(items: &[Item], excess: u64) -> Vec<usize> {
        let dropped = cut(items, &vec![1; items.len()], excess, |_| false).dropped;
        (0..items.len()).filter(|position| !dropped.contains(position)).collect()
    }

    #[test]
    fn whole_turns_are_dropped_from_the_start() {
        let talk = [
            system("Be brief."),
            user("one"),
            reasoning("rs_1"),
            call("call_1", "{}"),
            output("call_1", "1"),
            bare_assistant("first"),
            user("two"),
            bare_assistant("second"),
            user("three"),
        ];
        assert_eq!(left(&talk, 0).len(), 9);
        assert_eq!(left(&talk, 1), [0, 6, 7, 8]);
        assert_eq!(left(&talk, 6), [0, 8]);
        assert_eq!(left(&talk, 99), [0, 8]);
    }

    #[test]
    fn old_steps_drop_before_unanswered_items() {
        let run = [
            user("Count to three"),
            reasoning("rs_1"),
            call("call_1", "{}"),
            output("call_1", "1"),
            call("call_2", "{}"),
            output("call_2", "2"),
            call("call_3", "{}"),
            output("call_3", "3"),
        ];
        assert_eq!(left(&run, 1), [0, 4, 5, 6, 7]);
        assert_eq!(left(&run, 99), [0, 6, 7]);
    }

    #[test]
    fn turn_with_late_output_stays() {
        let late = [
            user("Start it"),
            call("call_1", "{}"),
            user("And the weather?"),
            bare_assistant("Fine."),
            output("call_1", "done"),
        ];
        assert_eq!(left(&late, 99), [0, 1, 2, 4]);
    }

    #[test]
    fn last_compaction_stays() {
        let compaction = |id: &str| {
            let text = format!(r#"{{"type":"compaction","id":"{id}","encrypted_content":"x"}}"#);
            Item::parse(text.into()).unwrap()
        };
        let talk = [
            compaction("cmp_1"),
            user("one"),
            bare_assistant("first"),
            compaction("cmp_2"),
            user("two"),
            bare_assistant("second"),
            user("three"),
        ];
        assert_eq!(left(&talk, 99), [3, 6]);
    }

    #[test]
    fn at_least_one_unit_stays() {
        let talk = [reasoning("rs_1"), bare_assistant("first")];
        assert_eq!(left(&talk, 99), [0, 1]);
        let run = [call("call_1", "{}"), output("call_1", "1"), bare_assistant("second")];
        assert_eq!(left(&run, 99), [2]);
    }

    #[test]
    fn consecutive_user_messages_stay_together() {
        let sent = [user("a document"), user("another"), user("Compare them.")];
        assert_eq!(left(&sent, 99), [0, 1, 2]);
    }

    #[test]
    fn selected_items_stay() {
        let talk = [user("A summary."), user("one"), bare_assistant("first"), user("two")];
        let is_summary = |item: &Item| *item == talk[0];
        assert_eq!(cut(&talk, &[1; 4], 99, is_summary).dropped, [1, 2]);
    }

    #[test]
    fn kept_returns_the_remaining_items() {
        let talk = [user("one"), bare_assistant("first"), user("two")];
        let cut = cut(&talk, &[3, 4, 5], 1, |_| false);
        assert_eq!((cut.weight, cut.kept(&talk)), (7, vec![user("two")]));
    }
}
