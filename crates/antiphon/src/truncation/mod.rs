//! What of a conversation can be left out where it is too long for its model.
//!
//! Groups are left out whole and from the start: first turns, each a user's message and all that came
//! of it, then the steps of the last turn, each what a model did at once and the outputs of its calls.
//! A call and its output share a group, wherever they stand; so do reasoning and what follows it.
//!
//! What stays whatever happens: instructions and what configures the model, the last compaction (it
//! says what was before it), the last user's message, and what the model has not answered yet: all
//! that stands behind the last item that it made, with the calls that it answers.
//!
//! Laws: a list in which [`check`](crate::repair::check) finds nothing is one afterwards; the order of
//! what stays is kept; who asks for more gets the same left out and more. Everything is linear.

mod groups;
mod units;

use self::groups::groups;
use crate::item::Item;

/// What is left out of a list of items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// The positions of the items, in order.
    pub dropped: Vec<usize>,
    /// What they weigh together.
    pub weight: u64,
}

impl Cut {
    /// The items that stay, of those that the cut was made for.
    pub fn kept(&self, items: &[Item]) -> Vec<Item> {
        let mut dropped = self.dropped.iter().copied().peekable();
        let stays = |(position, _): &(usize, &Item)| dropped.next_if_eq(position).is_none();
        items.iter().enumerate().filter(stays).map(|(_, item)| item.clone()).collect()
    }
}

/// Leaves out groups from the start until they weigh `excess` or more together, or none is left.
/// `weights`: of each item, in whatever unit `excess` is. `stays`: what else is to stay, such as a
/// message that stands for others.
pub fn cut(items: &[Item], weights: &[u64], excess: u64, stays: impl Fn(&Item) -> bool) -> Cut {
    let mut cut = Cut::default();
    for group in groups(items, stays) {
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
    use crate::item::given::{call, output, reasoning, said, system, user};

    /// What stays where so many items are to go.
    fn left(items: &[Item], excess: u64) -> Vec<usize> {
        let dropped = cut(items, &vec![1; items.len()], excess, |_| false).dropped;
        (0..items.len()).filter(|position| !dropped.contains(position)).collect()
    }

    #[test]
    fn whole_turns_go_from_the_start_and_instructions_stay() {
        let talk = [
            system("Be brief."),
            user("one"),
            reasoning("rs_1"),
            call("call_1", "{}"),
            output("call_1", "1"),
            said("first"),
            user("two"),
            said("second"),
            user("three"),
        ];
        assert_eq!(left(&talk, 0).len(), 9);
        assert_eq!(left(&talk, 1), [0, 6, 7, 8]);
        assert_eq!(left(&talk, 6), [0, 8]);
        assert_eq!(left(&talk, 99), [0, 8]);
    }

    #[test]
    fn the_steps_of_the_last_turn_go_before_what_the_model_has_not_answered() {
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
    fn a_turn_stays_whose_call_is_answered_only_now() {
        let late = [
            user("Start it"),
            call("call_1", "{}"),
            user("And the weather?"),
            said("Fine."),
            output("call_1", "done"),
        ];
        assert_eq!(left(&late, 99), [0, 1, 2, 4]);
    }

    #[test]
    fn the_last_compaction_stays_and_earlier_ones_go_with_their_turns() {
        let compaction = |id: &str| {
            let text = format!(r#"{{"type":"compaction","id":"{id}","encrypted_content":"x"}}"#);
            Item::parse(text.into()).unwrap()
        };
        let talk = [
            compaction("cmp_1"),
            user("one"),
            said("first"),
            compaction("cmp_2"),
            user("two"),
            said("second"),
            user("three"),
        ];
        assert_eq!(left(&talk, 99), [3, 6]);
    }

    #[test]
    fn something_is_always_left() {
        let talk = [reasoning("rs_1"), said("first")];
        assert_eq!(left(&talk, 99), [0, 1]);
        let run = [call("call_1", "{}"), output("call_1", "1"), said("second")];
        assert_eq!(left(&run, 99), [2]);
    }

    #[test]
    fn what_was_sent_at_once_is_not_taken_apart() {
        let sent = [user("a document"), user("another"), user("Compare them.")];
        assert_eq!(left(&sent, 99), [0, 1, 2]);
    }

    #[test]
    fn what_is_to_stay_stays() {
        let talk = [user("A summary."), user("one"), said("first"), user("two")];
        let is_summary = |item: &Item| *item == talk[0];
        assert_eq!(cut(&talk, &[1; 4], 99, is_summary).dropped, [1, 2]);
    }

    #[test]
    fn kept_items_are_those_that_are_not_dropped() {
        let talk = [user("one"), said("first"), user("two")];
        let cut = cut(&talk, &[3, 4, 5], 1, |_| false);
        assert_eq!((cut.weight, cut.kept(&talk)), (7, vec![user("two")]));
    }
}
