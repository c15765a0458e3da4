//! The filter for orphaned reasoning, which a stream that was cut short leaves in a history.

use super::{Action, texts};
use crate::item::Item;
use crate::item::given::{
    assistant, bare_assistant, call, call_under, item, output, reasoning, user,
};
use crate::repair::{Repaired, filter_orphaned_reasoning};

/// Asserts that the filter changes nothing.
fn assert_untouched(given: &[Item]) {
    let sources = (0..given.len()).map(Some).collect();
    let expected = Repaired { items: given.to_vec(), sources, repairs: vec![] };
    assert_eq!(filter_orphaned_reasoning(given), expected);
}

/// The positions of the dropped items.
fn orphans(given: &[Item]) -> Vec<usize> {
    let repairs = filter_orphaned_reasoning(given).repairs;
    assert!(repairs.iter().all(|repair| repair.fault.name() == "lone_reasoning"));
    assert!(repairs.iter().all(|repair| repair.action == Action::Dropped));
    repairs.iter().map(|repair| repair.position).collect()
}

/// An assistant message as frameworks store it.
fn message(content: &str, calls: &str) -> Item {
    item(format!(r#"{{"id":"msg_9","role":"assistant","content":{content},"tool_calls":{calls}}}"#))
}

const THOUGHT: &str = r#"{"type":"reasoning","id":"rs_9","summary":[]}"#;
const TEXT: &str = r#"{"type":"text","text":"Hello."}"#;

#[test]
fn only_the_orphan_is_dropped() {
    let given = [user("hi"), reasoning("rs_1"), user("Are you there?")];
    let filtered = filter_orphaned_reasoning(&given);
    assert_eq!(texts(&filtered.items), [given[0].text(), given[2].text()]);
    assert_eq!(orphans(&given), [1]);
}

#[test]
fn orphan_at_the_end_is_dropped() {
    assert_eq!(orphans(&[user("hi"), reasoning("rs_1")]), [1]);
}

#[test]
fn message_of_only_reasoning_is_an_orphan() {
    let content = format!("[{THOUGHT},{THOUGHT}]");
    assert_eq!(orphans(&[user("hi"), message(&content, "[]"), user("bye")]), [1]);
    assert_eq!(orphans(&[user("hi"), reasoning("rs_1"), message(&content, "null")]), [1, 2]);
}

#[test]
fn history_without_orphans_is_unchanged() {
    assert_untouched(&[]);
    assert_untouched(&[user("hi"), bare_assistant("Hello."), user("bye")]);
}

#[test]
fn empty_content_is_no_reasoning() {
    for content in ["[]", r#""""#, "null"] {
        assert_untouched(&[user("hi"), message(content, "[]"), user("bye")]);
    }
}

#[test]
fn reasoning_and_text_are_a_complete_turn() {
    assert_untouched(&[user("hi"), reasoning("rs_1"), assistant("msg_1", "Hello."), user("bye")]);
    assert_untouched(&[user("hi"), message(&format!("[{THOUGHT},{TEXT}]"), "[]"), user("bye")]);
}

#[test]
fn reasoning_that_led_to_a_call_is_no_orphan() {
    assert_untouched(&[user("hi"), reasoning("rs_1"), call("c", "{}"), output("c", "ok")]);
    let calls = r#"[{"name":"get_weather","args":{},"id":"call_1"}]"#;
    assert_untouched(&[user("hi"), message(&format!("[{THOUGHT}]"), calls)]);
}

#[test]
fn several_orphans_are_dropped() {
    let given = [
        reasoning("rs_1"),
        reasoning("rs_2"),
        user("hi"),
        reasoning("rs_3"),
        user("Hello?"),
        reasoning("rs_4"),
        assistant("msg_1", "Hello."),
    ];
    assert_eq!(orphans(&given), [0, 1, 3]);
}

#[test]
fn filtering_twice_changes_nothing_more() {
    let orphan = message(&format!("[{THOUGHT}]"), "[]");
    let given = [user("hi"), reasoning("rs_1"), orphan, user("bye"), reasoning("rs_2")];
    assert_untouched(&filter_orphaned_reasoning(&given).items);
}

#[test]
fn items_without_id_are_skipped() {
    let anonymous = item(r#"{"type":"reasoning","summary":[]}"#);
    let message = item(format!(r#"{{"role":"assistant","content":[{THOUGHT}]}}"#));
    assert_untouched(&[user("hi"), anonymous.clone(), user("bye"), message]);
    assert_eq!(orphans(&[user("hi"), anonymous, reasoning("rs_1"), user("bye")]), [2]);
}

#[test]
fn other_faults_stay() {
    assert_untouched(&[
        call_under("fc_1", "call_1", "{}"),
        call_under("fc_1", "call_1", "{}"),
        output("call_2", "ok"),
        item(r#"{"id":"bad","role":"user","content":"hi"}"#),
    ]);
}

#[test]
fn user_message_is_never_an_orphan() {
    let quoted = item(format!(r#"{{"id":"msg_1","role":"user","content":[{THOUGHT}]}}"#));
    assert_untouched(&[quoted]);
}
