//! What comes for an item that was not announced.

use serde_json::json;

use super::events::*;
use super::world::hears;

#[test]
fn a_message_that_was_never_announced_begins_with_its_first_event() {
    let told =
        hears(&[text_delta(0, "msg_1", "Hel"), text_delta(0, "msg_1", "lo"), completed(&[])]);
    assert_eq!(told.only_item(), message("msg_1", "Hello"));
    let kinds = [
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ];
    assert_eq!(told.kinds(), kinds);
}

#[test]
fn an_announcement_that_comes_late_is_not_told() {
    let told = hears(&[
        text_delta(0, "msg_1", "Hel"),
        added(0, &begun_message("msg_1")),
        part_added(0, "msg_1"),
        text_delta(0, "msg_1", "lo"),
        done(0, &message("msg_1", "Hello")),
        completed(&[message("msg_1", "Hello")]),
    ]);
    assert_eq!(told.only_item(), message("msg_1", "Hello"));
}

#[test]
fn reasoning_that_was_never_announced_begins_with_its_first_event() {
    let fields = json!({"summary_index": 0, "delta": "Hm."});
    let told = hears(&[within("reasoning_summary_text.delta", 0, "rs_1", &fields), completed(&[])]);
    let item = told.only_item();
    assert_eq!((&item["id"], &item["type"]), (&json!("rs_1"), &json!("reasoning")));
    assert_eq!(item["summary"], json!([{"type": "summary_text", "text": "Hm."}]));

    let fields = json!({"content_index": 0, "delta": "Hm."});
    for kind in ["reasoning_text.delta", "reasoning.delta"] {
        let told = hears(&[within(kind, 0, "rs_1", &fields), completed(&[])]);
        let content = json!([{"type": "reasoning_text", "text": "Hm."}]);
        assert_eq!(told.only_item()["content"], content);
    }
}

#[test]
fn a_part_tells_what_item_it_is_of() {
    let of_reasoning = json!({"content_index": 0, "part": {"type": "reasoning_text", "text": ""}});
    let told = hears(&[
        within("content_part.added", 0, "rs_1", &of_reasoning),
        part_added(1, "msg_1"),
        completed(&[]),
    ]);
    let kinds: Vec<_> = told.output().iter().map(|item| item["type"].clone()).collect();
    assert_eq!(kinds, ["reasoning", "message"]);
}

#[test]
fn text_at_the_index_of_an_item_that_cannot_speak_so_begins_a_message() {
    let told = hears(&[
        added(0, &begun_call("fc_1", "call_1")),
        text_delta(0, "msg_1", "Hello"),
        completed(&[]),
    ]);
    let kinds: Vec<_> = told.output().iter().map(|item| item["type"].clone()).collect();
    assert_eq!(kinds, ["function_call", "message"]);
}

#[test]
fn a_call_is_announced_when_its_name_is_known() {
    let mut nameless = begun_call("fc_1", "call_1");
    nameless["name"] = json!("");
    let told = hears(&[
        added(0, &nameless),
        arguments_delta(0, "fc_1", "{}"),
        done(0, &call("fc_1", "call_1", "{}")),
        completed(&[call("fc_1", "call_1", "{}")]),
    ]);
    assert_eq!(told.only_item(), call("fc_1", "call_1", "{}"));
}

#[test]
fn arguments_of_a_call_that_is_never_named_make_no_call() {
    let told = hears(&[arguments_delta(0, "fc_1", "{}"), completed(&[])]);
    assert!(told.output().is_empty());
}

#[test]
fn the_progress_of_an_item_that_was_not_announced_is_not_told() {
    let searching = within("web_search_call.searching", 0, "ws_1", &json!({}));
    let search = json!({"id": "ws_1", "type": "web_search_call", "status": "completed",
        "action": {"type": "search", "query": "x"}});
    let told = hears(&[searching, done(0, &search), completed(&[])]);
    assert_eq!(told.kinds(), ["output_item.added", "output_item.done", "completed"]);
    assert_eq!(told.only_item(), search);
}
