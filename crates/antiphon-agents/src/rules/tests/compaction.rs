//! Tests of the items that a compaction replaces.

use crate::rules::candidates;
use antiphon::item::given::{assistant, compaction, output, user};

#[test]
fn users_words_and_compactions_are_no_candidates() {
    let history =
        [user("hi"), compaction("cmp_1"), assistant("msg_1", "Hello."), output("call_1", "ok")];
    assert_eq!(candidates(&history), 2);
}
