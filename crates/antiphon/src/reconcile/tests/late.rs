//! Outputs that come after their calls were answered with made-up ones.

use super::{FRESH, Owner, by_call, by_id, by_place, owner};
use crate::item::Item;
use crate::item::given::{assistant, call, call_under, item, output, said, user};
use crate::made_up::message_of_late_output;
use crate::reconcile::Verdict;
use crate::repair::repair;

const LATE: Verdict = Verdict::LateOutput { made_up: 2 };

fn made_up(call: &Item) -> Item {
    repair(std::slice::from_ref(call)).items.remove(1)
}

/// A turn whose call nobody answered, and one behind it.
fn items() -> Vec<Item> {
    let call = call_under("fc_1", "call_1", r#"{"city":"Bonn"}"#);
    let silence = made_up(&call);
    vec![user("Bonn?"), call, silence, user("Never mind."), assistant("msg_1", "Fine.")]
}

fn conversation() -> Owner {
    owner(items()).having_made_up([2])
}

fn degrees() -> Item {
    output("call_1", "10 degrees")
}

/// The conversation whose provider deletes nothing: a message carries what came late.
fn told() -> Owner {
    let message = message_of_late_output(&degrees()).expect("an output can be told");
    let later = [message, user("And now?"), assistant("msg_2", "Cold.")];
    owner(items().into_iter().chain(later)).having_made_up([2, 5])
}

#[test]
fn the_real_output_of_a_call_that_a_made_up_one_answered_is_new() {
    let verdicts = conversation().reconcile([degrees(), user("And now?")]);
    assert_eq!(verdicts, [LATE, FRESH]);
    assert!(verdicts[0].is_fresh());
}

#[test]
fn it_is_told_in_a_whole_replay_too() {
    let ids_kept = conversation().reconcile([
        user("Bonn?"),
        call_under("fc_1", "call_1", r#"{"city":"Bonn"}"#),
        degrees(),
        user("Never mind."),
        assistant("msg_1", "Fine."),
        user("And now?"),
    ]);
    assert_eq!(ids_kept, [by_place(0), by_id(1), LATE, by_place(3), by_id(4), FRESH]);
    let ids_stripped = conversation().reconcile([
        user("Bonn?"),
        call("call_1", r#"{"city":"Bonn"}"#),
        degrees(),
        user("Never mind."),
        said("Fine."),
        user("And now?"),
    ]);
    assert_eq!(ids_stripped, [by_place(0), by_call(1), LATE, by_place(3), by_place(4), FRESH]);
}

#[test]
fn the_made_up_text_is_sent_again_where_a_client_has_learnt_it() {
    let silence = items().remove(2);
    let verdicts = conversation().reconcile([silence, user("And now?")]);
    assert_eq!(verdicts, [by_call(2), FRESH]);
    let as_parts = item(
        r#"{"type":"function_call_output","call_id":"call_1","id":null,"status":"completed",
            "output":[{"type":"input_text","text":"No output was recorded for this call."}]}"#,
    );
    assert_eq!(conversation().reconcile([as_parts]), [by_call(2)]);
}

#[test]
fn an_output_that_says_less_than_the_made_up_one_is_no_copy_of_it() {
    let patch = item(
        r#"{"type":"apply_patch_call","id":"apc_1","call_id":"call_1","status":"completed",
            "operation":{"type":"delete_file","path":"a"}}"#,
    );
    let held = owner([user("Tidy up."), patch.clone(), made_up(&patch)]).having_made_up([2]);
    let patched =
        item(r#"{"type":"apply_patch_call_output","call_id":"call_1","status":"completed"}"#);
    assert_eq!(held.reconcile([patched]), [LATE]);
}

#[test]
fn a_late_output_that_stands_twice_in_the_input_comes_once() {
    let verdicts = conversation().reconcile([degrees(), degrees()]);
    assert_eq!(verdicts, [LATE, Verdict::Duplicate(0)]);
}

#[test]
fn a_late_output_that_a_message_carries_is_held() {
    let verdicts = told().reconcile([
        user("Bonn?"),
        call("call_1", r#"{"city":"Bonn"}"#),
        degrees(),
        user("Never mind."),
        said("Fine."),
        user("And now?"),
        said("Cold."),
        user("bye"),
    ]);
    let expected = [
        by_place(0),
        by_call(1),
        by_call(5),
        by_place(3),
        by_place(4),
        by_place(6),
        by_place(7),
        FRESH,
    ];
    assert_eq!(verdicts, expected);
    assert_eq!(told().reconcile([output("call_1", "20 degrees")]), [LATE]);
}

#[test]
fn a_message_that_carries_an_output_is_known_where_a_client_has_learnt_it() {
    let message = message_of_late_output(&degrees()).expect("an output can be told");
    let verdicts = told().reconcile([
        user("Bonn?"),
        user("Never mind."),
        said("Fine."),
        message,
        user("And now?"),
        said("Cold."),
        user("bye"),
    ]);
    let expected =
        [by_place(0), by_place(3), by_place(4), by_place(5), by_place(6), by_place(7), FRESH];
    assert_eq!(verdicts, expected);
}

#[test]
fn the_real_output_is_held_once_the_made_up_one_gave_way_to_it() {
    let held = || {
        let both = items().into_iter().chain([degrees(), user("And now?")]);
        owner(both).having_made_up([2]).without([2])
    };
    assert_eq!(held().reconcile([degrees(), user("bye")]), [by_call(5), FRESH]);
    let replay = [user("Bonn?"), call("call_1", r#"{"city":"Bonn"}"#), degrees(), user("bye")];
    assert_eq!(held().reconcile(replay)[..3], [by_place(0), by_call(1), by_call(5)]);
}

#[test]
fn a_real_output_is_never_late() {
    let held = owner([user("Bonn?"), call("call_1", "{}"), degrees()]);
    let verdicts = held.reconcile([output("call_1", "20 degrees"), user("bye")]);
    assert!(!verdicts[0].is_fresh());
}
