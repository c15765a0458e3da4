//! The output that stays after the client disconnects.

use serde_json::{Value, json};

use super::events::*;
use super::world::{NOW, World};
use crate::stream::{Finished, Status};

fn left_after(events: &[Value]) -> Finished {
    let mut assembler = World::default().assembler();
    for event in events {
        assembler.apply_event(&event.to_string().into()).unwrap();
    }
    assembler.finish_disconnected(NOW)
}

fn kept(finished: &Finished) -> Vec<Option<Value>> {
    let kept = finished.output.iter().map(|output| &output.item);
    kept.map(|item| Some(serde_json::from_str(item.as_ref()?.text()).unwrap())).collect()
}

#[test]
fn finished_items_and_partial_message_stay() {
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
fn unfinished_call_and_its_reasoning_are_dropped() {
    let finished = left_after(&[
        added(0, &reasoning("rs_1", "", "")),
        done(0, &reasoning("rs_1", "Hm.", "gAAA")),
        added(1, &begun_call("fc_1", "call_1")),
        arguments_delta(1, "fc_1", r#"{"ci"#),
    ]);
    assert_eq!(kept(&finished), [None, None]);
    // The call stays known, so that a later output for it can be recognized.
    let announced = finished.output[1].announced.head();
    assert_eq!(announced.call_id, Some("call_1".into()));
}

#[test]
fn trailing_reasoning_is_dropped() {
    let alone = [added(0, &reasoning("rs_1", "", "")), done(0, &reasoning("rs_1", "Hm.", "gAAA"))];
    assert_eq!(kept(&left_after(&alone)), [None]);
    let open = [added(0, &reasoning("rs_1", "", ""))];
    assert_eq!(kept(&left_after(&open)), [None]);
}

#[test]
fn reasoning_before_an_item_stays() {
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
fn empty_message_is_dropped() {
    for events in [
        vec![added(0, &begun_message("msg_1"))],
        vec![added(0, &begun_message("msg_1")), part_added(0, "msg_1")],
        vec![added(0, &begun_message("msg_1")), text_delta(0, "msg_1", "")],
    ] {
        assert_eq!(kept(&left_after(&events)), [None]);
    }
}

#[test]
fn open_tool_item_is_dropped() {
    let search = json!({"id": "ws_1", "type": "web_search_call", "status": "in_progress"});
    assert_eq!(kept(&left_after(&[added(0, &search)])), [None]);
}

#[test]
fn settling_an_ended_response_changes_nothing() {
    let events = [created(), completed(&[message("msg_1", "Hello")])];
    let finished = left_after(&events);
    assert_eq!(finished.status, Status::Completed);
    assert_eq!(kept(&finished), [Some(message("msg_1", "Hello"))]);
}

#[test]
fn settling_an_empty_response_has_no_output() {
    assert!(left_after(&[]).output.is_empty());
}
