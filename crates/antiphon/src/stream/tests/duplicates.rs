//! One item per call and per message, however many times an upstream announces it.

use serde_json::json;

use super::events::*;
use super::world::{Told, World, hears};
use crate::stream::Note;

const PARIS: &str = r#"{"city":"Paris"}"#;
const ROME: &str = r#"{"city":"Rome"}"#;

/// One call was told, under one id, and says this.
fn is_one_call(told: &Told, id: &str, arguments: &str) {
    let item = told.only_item();
    assert_eq!((&item["id"], &item["call_id"]), (&json!(id), &json!("call_123")));
    assert_eq!(item["arguments"], arguments);
    assert_eq!(told.of("output_item.added").len(), 1);
    assert_eq!(told.of("output_item.done").len(), 1);
    assert_eq!(told.of("function_call_arguments.done").len(), 1);
    assert_eq!(told.deltas("function_call_arguments.delta"), arguments);
    for event in told.of("function_call_arguments.delta") {
        assert_eq!(event["item_id"], id);
    }
}

/// Two paths of a converter announce one call: the one streams it, the other gives it whole, each
/// under an id of its own.
#[test]
fn a_call_announced_by_a_streaming_and_a_whole_path_is_one_item() {
    let mut events = vec![created(), added(0, &begun_call("fc_abc", "call_123"))];
    events.push(arguments_delta(0, "fc_abc", r#"{"ci"#));
    events.push(arguments_delta(0, "fc_abc", r#"ty":"Paris"}"#));
    events.push(added(1, &call("fc_xyz", "call_123", PARIS)));
    events.push(arguments_done(1, "fc_xyz", PARIS));
    events.push(done(1, &call("fc_xyz", "call_123", PARIS)));
    let both = [call("fc_abc", "call_123", PARIS), call("fc_xyz", "call_123", PARIS)];
    events.push(completed(&both));

    let told = hears(&events);

    is_one_call(&told, "fc_abc", PARIS);
    let merged = Note::ItemIdReplaced { from: Some("fc_xyz".into()), to: "fc_abc".into() };
    assert_eq!(told.finished.notes, [merged]);
}

/// The same where the streaming path ends its item too.
#[test]
fn the_second_end_of_a_call_adds_nothing() {
    let mut events = streamed_call(0, "fc_abc", "call_123", &[r#"{"city":"#, r#""Paris"}"#]);
    events.extend(streamed_call(1, "fc_xyz", "call_123", &[PARIS]));
    events.push(completed(&[]));
    is_one_call(&hears(&events), "fc_abc", PARIS);
}

/// The whole path writes the arguments anew, with other white space than the streaming one.
#[test]
fn a_second_path_that_formats_the_arguments_otherwise_is_the_same_call() {
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

/// Where the path that announced the call first never says anything, the other one is heard.
#[test]
fn a_call_is_told_by_whichever_announcement_tells_of_it() {
    let mut events = vec![added(0, &begun_call("fc_abc", "call_123"))];
    events.extend(streamed_call(1, "fc_xyz", "call_123", &[r#"{"city":"#, r#""Paris"}"#]));
    events.push(completed(&[]));
    let told = hears(&events);
    is_one_call(&told, "fc_abc", PARIS);
    assert_eq!(told.of("function_call_arguments.delta").len(), 2);
}

/// First follow-up: events after the announcement name the item by its `call_id`.
#[test]
fn events_that_name_a_call_by_its_call_id_belong_to_it() {
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

    // The same where the events carry another index, or none.
    let without_index = events.map(|mut event| {
        if event.get("item_id").is_some() {
            event.as_object_mut().unwrap().remove("output_index");
        }
        event
    });
    is_one_call(&hears(&without_index), "fc_abc", PARIS);
}

/// Second follow-up: deltas, or the end, come without an announcement.
#[test]
fn a_call_whose_deltas_precede_its_announcement_is_one_item() {
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
fn an_announcement_under_the_same_id_adds_nothing() {
    let mut events = streamed_message(0, "msg_1", &["Hel", "lo"]);
    events.insert(2, added(0, &begun_message("msg_1")));
    events.insert(4, added(1, &begun_message("msg_1")));
    events.push(added(0, &begun_message("msg_1")));
    events.push(completed(&[message("msg_1", "Hello")]));
    let told = hears(&events);
    assert_eq!(told.only_item(), message("msg_1", "Hello"));
    let deltas = told.of("output_text.delta");
    assert_eq!(deltas.iter().map(|event| &event["delta"]).collect::<Vec<_>>(), ["Hel", "lo"]);
}

#[test]
fn an_announcement_without_an_id_at_the_same_index_adds_nothing() {
    let mut events = streamed_message(0, "msg_1", &["Hel", "lo"]);
    events.insert(2, added(0, &begun_message("")));
    events.insert(4, added(0, &begun_message("")));
    events.push(completed(&[message("msg_1", "Hello")]));
    assert_eq!(hears(&events).only_item(), message("msg_1", "Hello"));
}

/// Some servers give all calls of a turn one id.
#[test]
fn another_call_under_the_same_call_id_is_an_item_of_its_own() {
    let mut events = streamed_call(0, "fc_1", "call_123", &[PARIS]);
    events.extend(streamed_call(1, "fc_2", "call_123", &[ROME]));
    let both = [call("fc_1", "call_123", PARIS), call("fc_2", "call_123", ROME)];
    events.push(completed(&both));
    let told = hears(&events);

    let output = told.output();
    assert_eq!(output.len(), 2);
    assert_eq!(output[0], both[0]);
    assert_eq!((&output[1]["id"], &output[1]["arguments"]), (&json!("fc_2"), &json!(ROME)));
    let renamed = output[1]["call_id"].as_str().unwrap();
    assert!(renamed.starts_with("call_") && renamed != "call_123");
    let note = Note::CallIdReplaced { from: "call_123".into(), to: renamed.into() };
    assert_eq!(told.finished.notes, [note]);
}

#[test]
fn calls_under_one_call_id_that_stream_side_by_side_are_two() {
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
fn calls_of_two_tools_under_one_call_id_are_two() {
    let mut other = begun_call("fc_2", "call_123");
    other["name"] = json!("get_time");
    let mut other_ended = call("fc_2", "call_123", PARIS);
    other_ended["name"] = json!("get_time");
    let mut events = streamed_call(0, "fc_1", "call_123", &[PARIS]);
    events.extend([added(1, &other), arguments_delta(1, "fc_2", PARIS), done(1, &other_ended)]);
    events.push(completed(&[]));
    let told = hears(&events);
    let names: Vec<_> = told.output().iter().map(|item| item["name"].clone()).collect();
    assert_eq!(names, ["get_weather", "get_time"]);
    // Its deltas are told as they come.
    assert_eq!(told.of("function_call_arguments.delta").len(), 2);
}

#[test]
fn calls_under_one_item_id_are_as_many_as_their_call_ids() {
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
fn messages_under_one_id_that_say_different_things_are_two() {
    let mut events = streamed_message(0, "msg_1", &["One."]);
    events.extend(streamed_message(1, "msg_1", &["Two."]));
    events.push(completed(&[message("msg_1", "One."), message("msg_1", "Two.")]));
    let output = hears(&events).output();
    let texts: Vec<_> = output.iter().map(|item| &item["content"][0]["text"]).collect();
    assert_eq!(texts, ["One.", "Two."]);
}

#[test]
fn two_items_of_different_kinds_under_one_id_are_two() {
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
fn an_index_that_is_used_again_belongs_to_the_later_item() {
    let mut events = streamed_message(0, "msg_1", &["One."]);
    events.extend(streamed_message(0, "msg_2", &["Two."]));
    events.extend(streamed_call(0, "fc_1", "call_1", &[PARIS]));
    let output =
        [message("msg_1", "One."), message("msg_2", "Two."), call("fc_1", "call_1", PARIS)];
    events.push(completed(&output));
    assert_eq!(hears(&events).output(), output);
}

#[test]
fn items_that_stream_side_by_side_under_one_index_go_by_their_ids() {
    let events = [
        added(0, &begun_call("fc_1", "call_1")),
        added(0, &begun_call("fc_2", "call_2")),
        arguments_delta(0, "fc_1", PARIS),
        arguments_delta(0, "fc_2", ROME),
        done(0, &call("fc_2", "call_2", ROME)),
        done(0, &call("fc_1", "call_1", PARIS)),
        completed(&[call("fc_1", "call_1", PARIS), call("fc_2", "call_2", ROME)]),
    ];
    let told = hears(&events);
    assert_eq!(told.output(), [call("fc_1", "call_1", PARIS), call("fc_2", "call_2", ROME)]);
    assert_eq!(told.of("function_call_arguments.delta").len(), 2);
}

#[test]
fn a_call_the_conversation_holds_already_and_a_second_announcement_are_one_new_call() {
    let world = World::holding(&[call("fc_0", "call_123", ROME)]);
    let mut events = streamed_call(0, "fc_abc", "call_123", &[PARIS]);
    events.extend(streamed_call(1, "fc_xyz", "call_123", &[PARIS]));
    events.push(completed(&[]));
    let told = world.hears(&events);
    let item = told.only_item();
    assert_eq!(item["id"], "fc_abc");
    assert_ne!(item["call_id"], "call_123");
}
