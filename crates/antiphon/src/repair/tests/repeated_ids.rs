//! Servers that restart their call ids every turn, or use the same one for all calls.

use super::{Action, left_of, refusal, repairs, texts};
use crate::item::Item;
use crate::item::given::{call, call_under, item, output, user};

const BONN: &str = r#"{"city":"Bonn"}"#;
const ROME: &str = r#"{"city":"Rome"}"#;

#[test]
fn calls_of_two_turns_keep_their_own_outputs() {
    let given = [
        call("call_0", BONN),
        output("call_0", "10 degrees"),
        user("And Rome?"),
        call("call_0", ROME),
        output("call_0", "20 degrees"),
    ];
    assert_eq!(
        refusal(&given).3,
        "Duplicate function call found with call_id call_0. Remove duplicate items from your input \
         and try again."
    );
    assert_eq!(repairs(&given), [(3, "duplicate_call", Action::Renamed)]);
    let expected = [
        call("call_0", BONN),
        output("call_0", "10 degrees"),
        user("And Rome?"),
        call("call_0_2", ROME),
        output("call_0_2", "20 degrees"),
    ];
    assert_eq!(texts(&left_of(&given)), texts(&expected));
}

#[test]
fn parallel_calls_under_one_id_are_answered_in_order() {
    let given = [
        call("call", BONN),
        call("call", ROME),
        output("call", "10 degrees"),
        output("call", "20 degrees"),
    ];
    let expected = [
        call("call", BONN),
        call("call_2", ROME),
        output("call", "10 degrees"),
        output("call_2", "20 degrees"),
    ];
    assert_eq!(texts(&left_of(&given)), texts(&expected));
}

#[test]
fn the_same_question_asked_twice_keeps_both_answers() {
    let given = [
        call("call_0", BONN),
        output("call_0", "10 degrees"),
        user("And now?"),
        call("call_0", BONN),
        output("call_0", "11 degrees"),
    ];
    let outputs = |items: &[Item]| {
        let outputs = items.iter().filter(|item| item.text().contains("degrees"));
        outputs.map(|item| item.object().string("output").unwrap().into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(outputs(&left_of(&given)), ["10 degrees", "11 degrees"]);
}

#[test]
fn the_same_question_under_the_same_item_id_keeps_both_answers() {
    let given = [
        call_under("fc_0", "call_0", BONN),
        output("call_0", "10 degrees"),
        call_under("fc_0", "call_0", BONN),
        output("call_0", "11 degrees"),
    ];
    assert_eq!(
        repairs(&given),
        [(2, "duplicate_call", Action::Renamed), (2, "duplicate_item", Action::IdRemoved)]
    );
    let left = left_of(&given);
    assert_eq!(left.len(), 4);
    assert_eq!(left[2].head().id, None);
    assert_eq!(left[2].head().call_id, left[3].head().call_id);
}

#[test]
fn later_output_does_not_answer_an_earlier_turn() {
    let given = [
        call("call_0", BONN),
        user("Never mind. Rome?"),
        call("call_0", ROME),
        output("call_0", "20 degrees"),
    ];
    assert_eq!(
        repairs(&given),
        [(0, "unanswered_call", Action::Answered), (2, "duplicate_call", Action::Renamed)]
    );
    let left = left_of(&given);
    assert_eq!(left[1].head().call_id, Some("call_0".into()));
    assert_eq!(left[4].text(), output("call_0_2", "20 degrees").text());
}

#[test]
fn new_call_ids_avoid_used_ones() {
    let given = [
        call("call", BONN),
        output("call", "1"),
        call("call_2", BONN),
        output("call_2", "2"),
        call("call", ROME),
        output("call", "3"),
    ];
    let left = left_of(&given);
    assert_eq!(texts(&left)[..4], texts(&given)[..4]);
    assert_eq!(left[4].text(), call("call_3", ROME).text());
    assert_eq!(left[5].text(), output("call_3", "3").text());
}

#[test]
fn new_call_ids_respect_the_length_limit() {
    let longest = "c".repeat(64);
    let given =
        [call(&longest, BONN), output(&longest, "1"), call(&longest, ROME), output(&longest, "2")];
    let left = left_of(&given);
    assert_eq!(left[2].head().call_id, Some(format!("{}_1", "c".repeat(54)).into()));
}

#[test]
fn dropped_call_uses_no_call_id() {
    let screen = || {
        item(
            r#"{"type":"computer_call","id":"cu_1","call_id":"call_0","status":"completed",
                "action":{"type":"screenshot"},"pending_safety_checks":[]}"#,
        )
    };
    let click = item(
        r#"{"type":"computer_call","id":"cu_2","call_id":"call_0","status":"completed",
            "action":{"type":"click","x":1,"y":2,"button":"left"},"pending_safety_checks":[]}"#,
    );
    let shown = item(concat!(
        r#"{"type":"computer_call_output","call_id":"call_0","#,
        r#""output":{"type":"computer_screenshot","image_url":"data:"}}"#,
    ));
    let given = [screen(), user("hi"), click, shown];
    assert_eq!(repairs(&given), [(0, "unanswered_call", Action::Dropped)]);
    assert_eq!(texts(&left_of(&given)), texts(&given[1..]));
}
