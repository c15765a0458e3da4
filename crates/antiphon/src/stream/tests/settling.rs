//! What stays of a response whose caller left.

use serde_json::{Value, json};

use super::events::*;
use super::world::{NOW, World};
use crate::stream::{Finished, Status};

fn left_after(events: &[Value]) -> Finished {
    let mut assembler = World::default().assembler();
    for event in events {
        assembler.hear(&event.to_string().into()).unwrap();
    }
    assembler.settle(NOW)
}

fn kept(finished: &Finished) -> Vec<Option<Value>> {
    let kept = finished.output.iter().map(|output| &output.item);
    kept.map(|item| Some(serde_json::from_str(item.as_ref()?.text()).unwrap())).collect()
}

#[test]
fn finished_items_and_a_begun_message_stay() {
    let mut events = vec![created(), added(0, &reasoning("rs_1", "", ""))];
    events.push(done(0, &reasoning("rs_1", "Hm.", "gAAA")));
    events.extend(streamed_call(1, "fc_1", "call_1", &["{}"]));
    events.extend([added(2, &begun_message("msg_1")), text_delta(2, "msg_1", "Hel")]);
    let finished = left_after(&events);

    let mut begun = message("msg_1", "Hel");
    begun["status"] = json!("incomplete");
    let stays = [reasoning("rs_1", "Hm.", "gAAA"), call("fc_1", "call_1", "{}"), begun];
    assert_eq!(kept(&finished), stays.map(Some));
    assert_eq!(finished.status, Status::Cancelled);
    let envelope: Value = serde_json::from_str(&finished.envelope).unwrap();
    assert_eq!((&envelope["status"], &envelope["output"]), (&json!("cancelled"), &json!([])));
    assert_eq!(envelope["completed_at"], Value::Null);
}

#[test]
fn an_unfinished_call_goes_and_the_reasoning_before_it() {
    let finished = left_after(&[
        added(0, &reasoning("rs_1", "", "")),
        done(0, &reasoning("rs_1", "Hm.", "gAAA")),
        added(1, &begun_call("fc_1", "call_1")),
        arguments_delta(1, "fc_1", r#"{"ci"#),
    ]);
    assert_eq!(kept(&finished), [None, None]);
    // What it was is known, so that an output for it can be told from one for nothing.
    let announced = finished.output[1].announced.head();
    assert_eq!(announced.call_id, Some("call_1".into()));
}

#[test]
fn reasoning_that_nothing_follows_goes() {
    let alone = [added(0, &reasoning("rs_1", "", "")), done(0, &reasoning("rs_1", "Hm.", "gAAA"))];
    assert_eq!(kept(&left_after(&alone)), [None]);
    let open = [added(0, &reasoning("rs_1", "", ""))];
    assert_eq!(kept(&left_after(&open)), [None]);
}

#[test]
fn reasoning_that_something_follows_stays() {
    let mut events = vec![added(0, &reasoning("rs_1", "", ""))];
    events.push(done(0, &reasoning("rs_1", "Hm.", "gAAA")));
    events.extend(streamed_message(1, "msg_1", &["Hello"]));
    events.extend([added(2, &reasoning("rs_2", "", "")), done(2, &reasoning("rs_2", "Ha.", ""))]);
    let stays = kept(&left_after(&events));
    assert_eq!(
        stays,
        [Some(reasoning("rs_1", "Hm.", "gAAA")), Some(message("msg_1", "Hello")), None]
    );
}

#[test]
fn a_message_that_has_not_begun_to_speak_goes() {
    for events in [
        vec![added(0, &begun_message("msg_1"))],
        vec![added(0, &begun_message("msg_1")), part_added(0, "msg_1")],
        vec![added(0, &begun_message("msg_1")), text_delta(0, "msg_1", "")],
    ] {
        assert_eq!(kept(&left_after(&events)), [None]);
    }
}

#[test]
fn an_open_item_of_another_kind_goes() {
    let search = json!({"id": "ws_1", "type": "web_search_call", "status": "in_progress"});
    assert_eq!(kept(&left_after(&[added(0, &search)])), [None]);
}

#[test]
fn a_response_that_had_ended_is_settled_as_it_ended() {
    let events = [created(), completed(&[message("msg_1", "Hello")])];
    let finished = left_after(&events);
    assert_eq!(finished.status, Status::Completed);
    assert_eq!(kept(&finished), [Some(message("msg_1", "Hello"))]);
}

#[test]
fn nothing_is_settled_where_nothing_came() {
    assert!(left_after(&[]).output.is_empty());
}
