//! Events of items that are not announced.

use serde_json::json;

use super::events::*;
use super::world::hears;

#[test]
fn unannounced_message_starts_with_first_event() {
    let received =
        hears(&[text_delta(0, "msg_1", "Hel"), text_delta(0, "msg_1", "lo"), completed(&[])]);
    assert_eq!(received.only_item(), message("msg_1", "Hello"));
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
    assert_eq!(received.kinds(), kinds);
}

#[test]
fn late_announcement_is_ignored() {
    let received = hears(&[
        text_delta(0, "msg_1", "Hel"),
        added(0, &begun_message("msg_1")),
        part_added(0, "msg_1"),
        text_delta(0, "msg_1", "lo"),
        done(0, &message("msg_1", "Hello")),
        completed(&[message("msg_1", "Hello")]),
    ]);
    assert_eq!(received.only_item(), message("msg_1", "Hello"));
}

#[test]
fn unannounced_reasoning_starts_with_first_event() {
    let fields = json!({"summary_index": 0, "delta": "Hm."});
    let received =
        hears(&[within("reasoning_summary_text.delta", 0, "rs_1", &fields), completed(&[])]);
    let item = received.only_item();
    assert_eq!((&item["id"], &item["type"]), (&json!("rs_1"), &json!("reasoning")));
    assert_eq!(item["summary"], json!([{"type": "summary_text", "text": "Hm."}]));

    let fields = json!({"content_index": 0, "delta": "Hm."});
    for kind in ["reasoning_text.delta", "reasoning.delta"] {
        let received = hears(&[within(kind, 0, "rs_1", &fields), completed(&[])]);
        let content = json!([{"type": "reasoning_text", "text": "Hm."}]);
        assert_eq!(received.only_item()["content"], content);
    }
}

#[test]
fn part_type_decides_the_item_kind() {
    let of_reasoning = json!({"content_index": 0, "part": {"type": "reasoning_text", "text": ""}});
    let received = hears(&[
        within("content_part.added", 0, "rs_1", &of_reasoning),
        part_added(1, "msg_1"),
        completed(&[]),
    ]);
    let kinds: Vec<_> = received.output().iter().map(|item| item["type"].clone()).collect();
    assert_eq!(kinds, ["reasoning", "message"]);
}

#[test]
fn text_at_a_calls_index_starts_a_message() {
    let received = hears(&[
        added(0, &begun_call("fc_1", "call_1")),
        text_delta(0, "msg_1", "Hello"),
        completed(&[]),
    ]);
    let kinds: Vec<_> = received.output().iter().map(|item| item["type"].clone()).collect();
    assert_eq!(kinds, ["function_call", "message"]);
}

#[test]
fn call_is_announced_once_named() {
    let mut nameless = begun_call("fc_1", "call_1");
    nameless["name"] = json!("");
    let received = hears(&[
        added(0, &nameless),
        arguments_delta(0, "fc_1", "{}"),
        done(0, &call("fc_1", "call_1", "{}")),
        completed(&[call("fc_1", "call_1", "{}")]),
    ]);
    assert_eq!(received.only_item(), call("fc_1", "call_1", "{}"));
}

#[test]
fn arguments_without_a_name_are_dropped() {
    let received = hears(&[arguments_delta(0, "fc_1", "{}"), completed(&[])]);
    assert!(received.output().is_empty());
}

#[test]
fn progress_of_unannounced_item_is_dropped() {
    let searching = within("web_search_call.searching", 0, "ws_1", &json!({}));
    let search = json!({"id": "ws_1", "type": "web_search_call", "status": "completed",
        "action": {"type": "search", "query": "x"}});
    let received = hears(&[searching, done(0, &search), completed(&[])]);
    assert_eq!(received.kinds(), ["output_item.added", "output_item.done", "completed"]);
    assert_eq!(received.only_item(), search);
}
