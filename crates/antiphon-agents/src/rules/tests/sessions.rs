//! Tests of the items that sessions remove again.

use crate::rules::count_tail_to_pop;
use antiphon::item::given::user;

#[test]
fn behaviour_39_a_tail_that_does_not_match_is_not_popped() {
    let stored = [user("one"), user("two"), user("three")];
    assert_eq!(count_tail_to_pop(&stored, &[user("two"), user("three")]), Some(2));
    assert_eq!(count_tail_to_pop(&stored, &[user("two")]), None);
    assert_eq!(count_tail_to_pop(&stored, &[user("2"), user("three")]), None);
    assert_eq!(count_tail_to_pop(&stored[..1], &stored), None);
}
