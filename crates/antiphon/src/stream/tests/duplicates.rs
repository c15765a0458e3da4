//! One item per call and per message, even if an upstream announces it several times.

use serde_json::json;

use super::events::*;
use super::world::{ClientView, World, hears};
use crate::stream::Note;

const PARIS: &str = r#"{"city":"Paris"}"#;
const ROME: &str = r#"{"city":"Rome"}"#;

/// Asserts that the client got one call, with this id and these arguments.
fn is_one_call(received: &ClientView, id: &str, arguments: &str) {
    let item = received.only_item();
    assert_eq!((&item["id"], &item["call_id"]), (&json!(id), &json!("call_123")));
    assert_eq!(item["arguments"], arguments);
    assert_eq!(received.events_named("output_item.added").len(), 1);
    assert_eq!(received.events_named("output_item.done").len(), 1);
    assert_eq!(received.events_named("function_call_arguments.done").len(), 1);
    assert_eq!(received.deltas("function_call_arguments.delta"), arguments);
    for event in received.events_named("function_call_arguments.delta") {
        assert_eq!(event["item_id"], id);
    }
}

/// Two paths of a converter announce one call, each with an id of its own: one streams it, the
/// other sends it whole.
#[test]
fn streamed_and_whole_announcement_are_one_call() {
    let mut events = vec![created(), added(0, &begun_call("fc_abc", "call_123"))];
    events.push(arguments_delta(0, "fc_abc", r#"{"ci"#));
    events.push(arguments_delta(0, "fc_abc", r#"ty":"Paris"}"#));
    events.push(added(1, &call("fc_xyz", "call_123", PARIS)));
    events.push(arguments_done(1, "fc_xyz", PARIS));
    events.push(done(1, &call("fc_xyz", "call_123", PARIS)));
    let both = [call("fc_abc", "call_123", PARIS), call("fc_xyz", "call_123", PARIS)];
    events.push(completed(&both));

    let received = hears(&events);

    is_one_call(&received, "fc_abc", PARIS);
    let merged = Note::ItemIdReplaced { from: Some("fc_xyz".into()), to: "fc_abc".into() };
    assert_eq!(received.finished.notes, [merged]);
}

/// The streaming path ends its item too.
#[test]
fn second_end_of_call_is_ignored() {
    let mut events = streamed_call(0, "fc_abc", "call_123", &[r#"{"city":"#, r#""Paris"}"#]);
    events.extend(streamed_call(1, "fc_xyz", "call_123", &[PARIS]));
    events.push(completed(&[]));
    is_one_call(&hears(&events), "fc_abc", PARIS);
}

/// The second path formats the arguments with other white space.
#[test]
fn reformatted_arguments_are_the_same_call() {
    let spaced = r#"{ "city": "Paris" }"#;
    let compact = call("fc_xyz", "call_123", PARIS);

    let mut cut = vec![added(0, &begun_call("fc_abc", "call_123"))];
    cut.push(arguments_delta(0, "fc_abc", r#"{ "city": "Pa"#));
    cut.extend([added(1, &compact), done(1, &compact), completed(std::slice::from_ref(&compact))]);
    is_one_call(&hears(&cut), "fc_abc", r#"{ "city": "Paris"}"#);

    let mut ended = streamed_call(0, "fc_abc", "call_123", &[spaced]);
    ended.extend([added(1, &compact), done(1, &compact), completed(&[compact])]);
    is_one_call(&hears(&ended), "fc_abc", spaced);
}

/// The path of the first announcement sends no events of the call; the other path does.
#[test]
fn events_of_second_announcement_fill_the_call() {
    let mut events = vec![added(0, &begun_call("fc_abc", "call_123"))];
    events.extend(streamed_call(1, "fc_xyz", "call_123", &[r#"{"city":"#, r#""Paris"}"#]));
    events.push(completed(&[]));
    let received = hears(&events);
    is_one_call(&received, "fc_abc", PARIS);
    assert_eq!(received.events_named("function_call_arguments.delta").len(), 2);
}

/// Events after the announcement name the item by its `call_id`.
#[test]
fn call_id_as_item_id_finds_the_call() {
    let mut ended = call("call_123", "call_123", PARIS);
    ended["id"] = json!("call_123");
    let events = [
        added(0, &begun_call("fc_abc", "call_123")),
        arguments_delta(0, "call_123", PARIS),
        arguments_done(0, "call_123", PARIS),
        done(0, &ended),
        completed(&[ended.clone()]),
    ];
    is_one_call(&hears(&events), "fc_abc", PARIS);

    // The events carry no index.
    let without_index = events.map(|mut event| {
        if event.get("item_id").is_some() {
            event.as_object_mut().unwrap().remove("output_index");
        }
        event
    });
    is_one_call(&hears(&without_index), "fc_abc", PARIS);
}

/// The deltas or the end arrive without an announcement.
#[test]
fn deltas_before_announcement_are_one_call() {
    let early = arguments_delta(0, "call_123", r#"{"city":"#);
    let late = arguments_delta(0, "fc_abc", r#""Paris"}"#);
    let ended = done(0, &call("fc_abc", "call_123", PARIS));
    let announced = added(0, &begun_call("fc_abc", "call_123"));
    let finished = completed(&[call("fc_abc", "call_123", PARIS)]);

    let never = [early.clone(), late.clone(), ended.clone(), finished.clone()];
    is_one_call(&hears(&never), "fc_abc", PARIS);
    let too_late = [early, announced, late, ended.clone(), finished.clone()];
    is_one_call(&hears(&too_late), "fc_abc", PARIS);
    is_one_call(&hears(&[ended, finished.clone()]), "fc_abc", PARIS);
    is_one_call(&hears(&[finished]), "fc_abc", PARIS);
}

#[test]
fn repeated_announcement_with_same_id_is_ignored() {
    let mut events = streamed_message(0, "msg_1", &["Hel", "lo"]);
    events.insert(2, added(0, &begun_message("msg_1")));
    events.insert(4, added(1, &begun_message("msg_1")));
    events.push(added(0, &begun_message("msg_1")));
    events.push(completed(&[message("msg_1", "Hello")]));
    let received = hears(&events);
    assert_eq!(received.only_item(), message("msg_1", "Hello"));
    let deltas = received.events_named("output_text.delta");
    assert_eq!(deltas.iter().map(|event| &event["delta"]).collect::<Vec<_>>(), ["Hel", "lo"]);
}

#[test]
fn repeated_announcement_without_id_is_ignored() {
    let mut events = streamed_message(0, "msg_1", &["Hel", "lo"]);
    events.insert(2, added(0, &begun_message("")));
    events.insert(4, added(0, &begun_message("")));
    events.push(completed(&[message("msg_1", "Hello")]));
    assert_eq!(hears(&events).only_item(), message("msg_1", "Hello"));
}

/// Some servers give all calls of a turn the same id.
#[test]
fn other_call_with_same_call_id_is_separate() {
    let mut events = streamed_call(0, "fc_1", "call_123", &[PARIS]);
    events.extend(streamed_call(1, "fc_2", "call_123", &[ROME]));
    let both = [call("fc_1", "call_123", PARIS), call("fc_2", "call_123", ROME)];
    events.push(completed(&both));
    let received = hears(&events);

    let output = received.output();
    assert_eq!(output.len(), 2);
    assert_eq!(output[0], both[0]);
    assert_eq!((&output[1]["id"], &output[1]["arguments"]), (&json!("fc_2"), &json!(ROME)));
    let renamed = output[1]["call_id"].as_str().unwrap();
    assert!(renamed.starts_with("call_") && renamed != "call_123");
    let note = Note::CallIdReplaced { from: "call_123".into(), to: renamed.into() };
    assert_eq!(received.finished.notes, [note]);
}

#[test]
fn interleaved_calls_with_one_call_id_are_two() {
    let mut events = vec![
        added(0, &begun_call("fc_1", "call_123")),
        added(1, &begun_call("fc_2", "call_123")),
        arguments_delta(0, "fc_1", PARIS),
        arguments_delta(1, "fc_2", ROME),
    ];
    for in_order in [true, false] {
        let mut ends = vec![
            done(0, &call("fc_1", "call_123", PARIS)),
            done(1, &call("fc_2", "call_123", ROME)),
        ];
        if !in_order {
            ends.reverse();
        }
        let mut events_of = events.clone();
        events_of.append(&mut ends);
        events_of.push(completed(&[]));
        let output = hears(&events_of).output();
        let arguments: Vec<_> = output.iter().map(|item| &item["arguments"]).collect();
        assert_eq!(arguments, [PARIS, ROME]);
    }
    events.clear();
}

#[test]
fn two_tools_with_one_call_id_are_two() {
    let mut other = begun_call("fc_2", "call_123");
    other["name"] = json!("get_time");
    let mut other_ended = call("fc_2", "call_123", PARIS);
    other_ended["name"] = json!("get_time");
    let mut events = streamed_call(0, "fc_1", "call_123", &[PARIS]);
    events.extend([added(1, &other), arguments_delta(1, "fc_2", PARIS), done(1, &other_ended)]);
    events.push(completed(&[]));
    let received = hears(&events);
    let names: Vec<_> = received.output().iter().map(|item| item["name"].clone()).collect();
    assert_eq!(names, ["get_weather", "get_time"]);
    // Its deltas are streamed too.
    assert_eq!(received.events_named("function_call_arguments.delta").len(), 2);
}

#[test]
fn two_call_ids_with_one_item_id_are_two() {
    let mut events = vec![added(0, &begun_call("fc_1", "call_1"))];
    events.push(added(1, &begun_call("fc_1", "call_2")));
    events.push(arguments_delta(1, "fc_1", ROME));
    events.push(arguments_delta(0, "fc_1", PARIS));
    events.push(done(0, &call("fc_1", "call_1", PARIS)));
    events.push(done(1, &call("fc_1", "call_2", ROME)));
    events.push(completed(&[call("fc_1", "call_1", PARIS), call("fc_1", "call_2", ROME)]));
    let output = hears(&events).output();
    assert_eq!(output[0], call("fc_1", "call_1", PARIS));
    assert_eq!((&output[1]["call_id"], &output[1]["arguments"]), (&json!("call_2"), &json!(ROME)));
    assert_eq!(output.len(), 2);
}

#[test]
fn different_messages_with_one_id_are_two() {
    let mut events = streamed_message(0, "msg_1", &["One."]);
    events.extend(streamed_message(1, "msg_1", &["Two."]));
    events.push(completed(&[message("msg_1", "One."), message("msg_1", "Two.")]));
    let output = hears(&events).output();
    let texts: Vec<_> = output.iter().map(|item| &item["content"][0]["text"]).collect();
    assert_eq!(texts, ["One.", "Two."]);
}

#[test]
fn two_kinds_with_one_id_are_two() {
    let mut events =
        vec![added(0, &reasoning("item_1", "", "")), done(0, &reasoning("item_1", "Hm.", ""))];
    events.extend(streamed_message(1, "item_1", &["Hello"]));
    events.push(completed(&[reasoning("item_1", "Hm.", ""), message("item_1", "Hello")]));
    let output = hears(&events).output();
    assert_eq!(output.len(), 2);
    assert_eq!(output[0]["id"], "item_1");
    assert_eq!(output[1]["content"], message("", "Hello")["content"]);
}

#[test]
fn reused_index_belongs_to_later_item() {
    let mut events = streamed_message(0, "msg_1", &["One."]);
    events.extend(streamed_message(0, "msg_2", &["Two."]));
    events.extend(streamed_call(0, "fc_1", "call_1", &[PARIS]));
    let output =
        [message("msg_1", "One."), message("msg_2", "Two."), call("fc_1", "call_1", PARIS)];
    events.push(completed(&output));
    assert_eq!(hears(&events).output(), output);
}

#[test]
fn interleaved_items_with_one_index_match_by_id() {
    let events = [
        added(0, &begun_call("fc_1", "call_1")),
        added(0, &begun_call("fc_2", "call_2")),
        arguments_delta(0, "fc_1", PARIS),
        arguments_delta(0, "fc_2", ROME),
        done(0, &call("fc_2", "call_2", ROME)),
        done(0, &call("fc_1", "call_1", PARIS)),
        completed(&[call("fc_1", "call_1", PARIS), call("fc_2", "call_2", ROME)]),
    ];
    let received = hears(&events);
    assert_eq!(received.output(), [call("fc_1", "call_1", PARIS), call("fc_2", "call_2", ROME)]);
    assert_eq!(received.events_named("function_call_arguments.delta").len(), 2);
}

#[test]
fn held_call_id_announced_twice_is_one_call() {
    let world = World::holding(&[call("fc_0", "call_123", ROME)]);
    let mut events = streamed_call(0, "fc_abc", "call_123", &[PARIS]);
    events.extend(streamed_call(1, "fc_xyz", "call_123", &[PARIS]));
    events.push(completed(&[]));
    let received = world.hears(&events);
    let item = received.only_item();
    assert_eq!(item["id"], "fc_abc");
    assert_ne!(item["call_id"], "call_123");
}
