//! Ids of items and calls.

use serde_json::{Value, json};

use super::events::*;
use super::world::{World, hears};
use crate::stream::Note;

/// The events of a message with this id, from its announcement to the final output.
fn told_as(id: &Value) -> Vec<Value> {
    let named = |mut event: Value| {
        if event.get("item_id").is_some() {
            event["item_id"] = id.clone();
        }
        if event.get("item").is_some() {
            event["item"]["id"] = id.clone();
        }
        event
    };
    let mut events: Vec<Value> =
        streamed_message(0, "", &["Hel", "lo"]).into_iter().map(named).collect();
    let mut finished = message("", "Hello");
    finished["id"] = id.clone();
    events.push(completed(&[finished]));
    events
}

#[test]
fn malformed_message_id_is_replaced_and_noted() {
    let overlong = format!("msg_{}", "x".repeat(64));
    for id in ["", "chatcmpl-1", "msg 1", "msg_\u{e9}", &overlong] {
        let received = hears(&told_as(&json!(id)));
        let item = received.only_item();
        let ours = item["id"].as_str().unwrap();
        assert!(ours.starts_with("msg_") && ours.len() <= 64 && ours != id);
        assert_eq!(item["content"], json!([text_part("Hello")]));
        let note =
            Note::ItemIdReplaced { from: (!id.is_empty()).then(|| id.into()), to: ours.into() };
        assert_eq!(received.finished.notes, [note]);
    }
}

#[test]
fn non_string_id_counts_as_missing() {
    for id in [json!(null), json!(7), json!({})] {
        let received = hears(&told_as(&id));
        assert!(received.only_item()["id"].as_str().unwrap().starts_with("msg_"));
    }
}

#[test]
fn held_item_id_is_replaced() {
    let world = World::holding(&[message("msg_1", "Earlier.")]);
    let received = world.hears(&told_as(&json!("msg_1")));
    assert_ne!(received.only_item()["id"], "msg_1");
    assert_eq!(received.deltas("output_text.delta"), "Hello");
}

#[test]
fn bad_call_id_is_replaced_and_noted() {
    let world = World::holding(&[call("fc_0", "call_0", "{}")]);
    let overlong = "c".repeat(65);
    for call_id in ["", "call_0", &overlong] {
        let mut events = streamed_call(0, "fc_1", call_id, &["{", "}"]);
        events.push(completed(&[call("fc_1", call_id, "{}")]));
        let received = world.hears(&events);
        let item = received.only_item();
        let ours = item["call_id"].as_str().unwrap();
        assert!(ours.starts_with("call_") && ours.len() <= 64 && ours != call_id);
        assert_eq!(item["id"], "fc_1");
        let note = Note::CallIdReplaced { from: call_id.into(), to: ours.into() };
        assert_eq!(received.finished.notes, [note]);
    }
}

#[test]
fn function_and_custom_tool_may_share_call_id() {
    let custom = json!({"id": "ctc_1", "type": "custom_tool_call", "status": "completed",
        "call_id": "call_1", "name": "shout", "input": "hi"});
    let received = hears(&[completed(&[call("fc_1", "call_1", "{}"), custom.clone()])]);
    assert_eq!(received.output(), [call("fc_1", "call_1", "{}"), custom]);
    assert!(received.finished.notes.is_empty());
}

#[test]
fn changed_item_id_keeps_the_first_and_notes() {
    let mut events = streamed_message(0, "msg_1", &["Hello"]);
    *events.last_mut().unwrap() = done(0, &message("msg_2", "Hello"));
    events.push(completed(&[message("msg_3", "Hello")]));
    let received = hears(&events);
    assert_eq!(received.only_item(), message("msg_1", "Hello"));
    let note = Note::ItemIdReplaced { from: Some("msg_2".into()), to: "msg_1".into() };
    assert_eq!(received.finished.notes, [note]);
}

#[test]
fn changed_call_id_keeps_the_first() {
    let mut events = streamed_call(0, "fc_1", "call_1", &["{}"]);
    *events.last_mut().unwrap() = done(0, &call("fc_1", "call_2", "{}"));
    events.push(completed(&[]));
    assert_eq!(hears(&events).only_item(), call("fc_1", "call_1", "{}"));
}

#[test]
fn final_items_with_new_ids_are_matched() {
    let mut events = streamed_message(0, "msg_1", &["One."]);
    events.extend(streamed_message(1, "msg_2", &["Two."]));
    events.push(completed(&[message("msg_8", "One."), message("msg_9", "Two.")]));
    assert_eq!(hears(&events).output(), [message("msg_1", "One."), message("msg_2", "Two.")]);
}

#[test]
fn items_without_ids_appear_once_each() {
    let mut events = streamed_message(0, "", &["One."]);
    events.extend(streamed_call(1, "", "call_1", &["{}"]));
    events.extend(streamed_message(2, "", &["Two."]));
    let finished = [message("", "One."), call("", "call_1", "{}"), message("", "Two.")];
    events.push(completed(&finished));
    assert_eq!(hears(&events).output().len(), 3);
}

#[test]
fn unannounced_final_items_are_emitted_whole() {
    let mut events = streamed_message(0, "msg_1", &["Hello"]);
    events.push(completed(&[call("fc_1", "call_1", "{}"), message("msg_1", "Hello")]));
    let received = hears(&events);
    assert_eq!(received.output(), [message("msg_1", "Hello"), call("fc_1", "call_1", "{}")]);
    assert_eq!(received.deltas("function_call_arguments.delta"), "{}");
}

#[test]
fn unannounced_final_item_matches_no_open_item() {
    let received = hears(&[
        added(0, &begun_message("msg_1")),
        completed(&[message("msg_0", "Zero."), message("msg_1", "One.")]),
    ]);
    assert_eq!(received.output(), [message("msg_1", "One."), message("msg_0", "Zero.")]);
}

#[test]
fn malformed_id_of_encrypted_reasoning_is_kept() {
    let long = format!("{}=", "x".repeat(90));
    for id in ["reasoning_1", &long] {
        let events = [
            added(0, &json!({"id": id, "type": "reasoning", "summary": []})),
            done(0, &reasoning(id, "", "gAAA")),
            completed(&[reasoning(id, "", "gAAA")]),
        ];
        let received = hears(&events);
        assert_eq!(received.only_item(), shown(&reasoning(id, "", "gAAA")));
        assert!(received.finished.notes.is_empty());
    }
}

#[test]
fn replaced_id_drops_encrypted_content() {
    let begun = json!({"id": "rs_1", "type": "reasoning", "summary": []});
    let events = [added(0, &begun), done(0, &reasoning("rs_2", "Hm.", "gAAA")), completed(&[])];
    let item = hears(&events).only_item();
    assert_eq!((&item["id"], &item["encrypted_content"]), (&json!("rs_1"), &Value::Null));

    let world = World::holding(&[reasoning("rs_1", "", "gAAA")]);
    let item = world.hears(&[completed(&[reasoning("rs_1", "Hm.", "gBBB")])]).only_item();
    assert_ne!(item["id"], "rs_1");
    assert_eq!(item["encrypted_content"], Value::Null);
}

#[test]
fn encrypted_reasoning_is_hidden_unless_requested() {
    let finished = [reasoning("rs_1", "Hm.", "gAAA"), message("msg_1", "Hello")];
    let mut events = vec![added(0, &reasoning("rs_1", "", "gA"))];
    events.push(done(0, &finished[0]));
    events.extend(streamed_message(1, "msg_1", &["Hello"]));
    events.push(completed(&finished));

    assert_eq!(hears(&events).output()[0]["encrypted_content"], "gAAA");
    let hidden = World::without_encrypted().hears(&events);
    assert!(!hidden.story().contains("gA") && !hidden.finished.response.contains("gA"));
    // It is stored nevertheless: the next turn needs it.
    assert_eq!(hidden.kept()[0].as_ref().unwrap()["encrypted_content"], "gAAA");
}

#[test]
fn unknown_event_hides_encrypted_reasoning() {
    let thought = reasoning("rs_1", "Hm.", "gAAA");
    let news = within("response.output_item.revised", 0, "rs_1", &json!({"item": thought}));
    let events = [added(0, &reasoning("rs_1", "", "gA")), news, done(0, &thought)];
    let hidden = World::without_encrypted().hears(&events);
    assert_eq!(hidden.events_named("response.output_item.revised").len(), 1);
    assert!(!hidden.story().contains("gA"));
}

#[test]
fn compaction_keeps_its_encrypted_content() {
    let compaction = json!({"id": "cmp_1", "type": "compaction", "encrypted_content": "gAAA"});
    let mut assembler = World::without_encrypted().assembler();
    let response = json!({"output": [compaction]});
    assembler.apply_response(&response.to_string().into()).unwrap();
    let response: Value = serde_json::from_str(&assembler.finish(0).response).unwrap();
    assert_eq!(response["output"], json!([shown(&compaction)]));
}

#[test]
fn upstream_response_id_is_hidden() {
    let received = hears(&[created(), in_progress(), completed(&[])]);
    assert!(!received.story().contains("resp_up"));
}
