//! Parts and texts are opened, streamed and closed, even if the upstream omits events.

use bytes::Bytes;
use serde_json::{Value, json};

use super::events::*;
use super::world::{ClientView, World, hears};
use crate::stream::Form;

const LIFE: [&str; 8] = [
    "output_item.added",
    "content_part.added",
    "output_text.delta",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
    "output_item.done",
    "completed",
];

fn is_hello(received: &ClientView) {
    assert_eq!(received.only_item(), message("msg_1", "Hello"));
    assert_eq!(received.kinds(), LIFE);
}

#[test]
fn omitted_message_events_are_emitted() {
    let whole = streamed_message(0, "msg_1", &["Hel", "lo"]);
    for left_out in [&[1][..], &[4], &[5], &[4, 5], &[1, 4, 5], &[1, 4, 5, 6], &[0, 1, 4, 5]] {
        let kept = whole.iter().enumerate().filter(|(at, _)| !left_out.contains(at));
        let mut events: Vec<Value> = kept.map(|(_, event)| event.clone()).collect();
        events.push(completed(&[message("msg_1", "Hello")]));
        is_hello(&hears(&events));
        events.pop();
        events.push(completed(&[]));
        is_hello(&hears(&events));
    }
}

#[test]
fn repeated_message_events_are_forwarded_once() {
    let whole = streamed_message(0, "msg_1", &["Hel", "lo"]);
    for twice in [1, 4, 5, 6] {
        let mut events = whole.clone();
        events.insert(twice, whole[twice].clone());
        events.push(completed(&[message("msg_1", "Hello")]));
        is_hello(&hears(&events));
    }
}

#[test]
fn deltas_after_text_end_are_dropped() {
    let mut events = streamed_message(0, "msg_1", &["Hel", "lo"]);
    events.insert(5, text_delta(0, "msg_1", "?"));
    events.insert(7, text_delta(0, "msg_1", "?"));
    events.push(text_delta(0, "msg_1", "?"));
    events.push(completed(&[]));
    is_hello(&hears(&events));
}

#[test]
fn missing_rest_of_text_precedes_its_end() {
    let received = hears(&[
        added(0, &begun_message("msg_1")),
        text_delta(0, "msg_1", "Hel"),
        done(0, &message("msg_1", "Hello")),
        completed(&[]),
    ]);
    is_hello(&received);
    assert_eq!(received.events_named("output_text.delta")[1]["delta"], "lo");
}

#[test]
fn announcement_with_content_streams_from_the_start() {
    let received = hears(&[added(0, &message("msg_1", "Hello")), completed(&[])]);
    assert_eq!(received.only_item(), message("msg_1", "Hello"));
    assert_eq!(received.events_named("output_item.added")[0]["item"], begun_message("msg_1"));
    assert_eq!(received.deltas("output_text.delta"), "Hello");
}

#[test]
fn added_part_with_text_streams_from_the_start() {
    let mut full = part_added(0, "msg_1");
    full["part"] = text_part("Hello");
    let received = hears(&[added(0, &begun_message("msg_1")), full, completed(&[])]);
    assert_eq!(received.only_item(), message("msg_1", "Hello"));
}

#[test]
fn empty_end_keeps_streamed_text() {
    let received = hears(&[
        added(0, &begun_message("msg_1")),
        part_added(0, "msg_1"),
        text_delta(0, "msg_1", "Hel"),
        text_delta(0, "msg_1", "lo"),
        text_done(0, "msg_1", ""),
        part_done(0, "msg_1", ""),
        done(0, &begun_message("msg_1")),
        completed(&[begun_message("msg_1")]),
    ]);
    is_hello(&received);

    let mut events = streamed_call(0, "fc_1", "call_1", &["{}"]);
    events.truncate(2);
    events.extend([done(0, &call("fc_1", "call_1", "")), completed(&[])]);
    assert_eq!(hears(&events).only_item(), call("fc_1", "call_1", "{}"));
}

#[test]
fn text_events_have_logprobs() {
    let mut delta = text_delta(0, "msg_1", "Hello");
    delta.as_object_mut().unwrap().remove("logprobs");
    let mut ended = text_done(0, "msg_1", "Hello");
    ended["logprobs"] = Value::Null;
    let received = hears(&[added(0, &begun_message("msg_1")), delta, ended, completed(&[])]);
    for event in
        [received.events_named("output_text.delta"), received.events_named("output_text.done")]
            .concat()
    {
        assert_eq!(event["logprobs"], json!([]));
    }
}

#[test]
fn escapes_may_differ_between_deltas_and_end() {
    let delta = concat!(
        r#"{"type":"response.output_text.delta","output_index":0,"item_id":"msg_1","#,
        r#""content_index":0,"delta":"caf\u00e9 \/ "}"#,
    );
    let ended = message("msg_1", "café / crème").to_string();
    let events = [
        added(0, &begun_message("msg_1")).to_string(),
        delta.to_owned(),
        format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{ended}}}"#),
        completed(&[]).to_string(),
    ];
    let received = World::default().hears_bytes(&events.map(Bytes::from));
    assert_eq!(received.only_item(), message("msg_1", "café / crème"));
    assert_eq!(received.events_named("output_text.delta")[1]["delta"], "crème");
}

#[test]
fn split_surrogate_pair_is_joined() {
    let part = r#""output_index":0,"item_id":"msg_1","content_index":0"#;
    let delta = |half: &str| {
        let delta = format!(r#""delta":"{half}","logprobs":[]"#);
        format!(r#"{{"type":"response.output_text.delta",{part},{delta}}}"#)
    };
    let mut assembler = World::default().assembler();
    for event in [
        added(0, &begun_message("msg_1")).to_string(),
        delta(r"\ud83d"),
        delta(r"\ude00"),
        completed(&[]).to_string(),
    ] {
        assembler.apply_event(&event.into()).unwrap();
    }
    let response: Value = serde_json::from_str(&assembler.finish(0).response).unwrap();
    assert_eq!(response["output"][0]["content"][0]["text"], "😀");
}

#[test]
fn contradicting_final_text_wins() {
    let received = World::default().with_contradictory_upstream().hears(&[
        added(0, &begun_message("msg_1")),
        text_delta(0, "msg_1", "Helo"),
        done(0, &message("msg_1", "Hello")),
        completed(&[message("msg_1", "Hello")]),
    ]);
    assert_eq!(received.only_item(), message("msg_1", "Hello"));
}

#[test]
fn part_indexes_follow_opening_order() {
    let refusal = json!({"type": "refusal", "refusal": "No."});
    let mut ended = message("msg_1", "Hello");
    ended["content"].as_array_mut().unwrap().push(refusal.clone());
    let received = hears(&[
        added(0, &begun_message("msg_1")),
        within("output_text.delta", 0, "msg_1", &json!({"content_index": 1, "delta": "Hello"})),
        within("refusal.delta", 0, "msg_1", &json!({"content_index": 2, "delta": "No."})),
        done(0, &ended),
        completed(&[ended.clone()]),
    ]);
    assert_eq!(received.only_item(), ended);
    assert_eq!(received.deltas("output_text.delta"), "Hello");
    assert_eq!(received.deltas("refusal.delta"), "No.");
}

#[test]
fn annotations_are_forwarded_and_stored() {
    let cited = json!({"type": "url_citation", "url": "https://example.com", "title": "x",
        "start_index": 0, "end_index": 5});
    let annotation = within(
        "output_text.annotation.added",
        0,
        "msg_1",
        &json!({"content_index": 0, "annotation_index": 0, "annotation": cited}),
    );
    let mut events = vec![added(0, &begun_message("msg_1")), text_delta(0, "msg_1", "Hello")];
    events.extend([annotation, completed(&[])]);
    let item = hears(&events).only_item();
    assert_eq!(item["content"][0]["annotations"], json!([cited]));

    let received = hears(&[completed(&[item])]);
    assert_eq!(received.events_named("output_text.annotation.added")[0]["annotation"], cited);
}

#[test]
fn raw_reasoning_events_use_the_clients_names() {
    let forms = [(Form::OpenAi, "reasoning_text"), (Form::OpenResponses, "reasoning")];
    for (form, own) in forms {
        for name in ["reasoning_text", "reasoning"] {
            let fields = json!({"content_index": 0, "delta": "Hm."});
            let received = World::reading(form).hears(&[
                added(0, &json!({"id": "rs_1", "type": "reasoning", "summary": []})),
                within(&format!("{name}.delta"), 0, "rs_1", &fields),
                completed(&[]),
            ]);
            let part = json!([{"type": "reasoning_text", "text": "Hm."}]);
            assert_eq!(received.only_item()["content"], part);
            assert_eq!(received.events_named(&format!("{own}.delta")).len(), 1);
            assert_eq!(received.events_named(&format!("{own}.done")).len(), 1);
        }
    }
}

/// Some servers send raw reasoning as an output text part.
#[test]
fn output_text_in_reasoning_becomes_reasoning_text() {
    let mut ended = reasoning("rs_1", "", "");
    ended["content"] = json!([{"type": "output_text", "text": "Hm."}]);
    let received = hears(&[
        added(0, &json!({"id": "rs_1", "type": "reasoning", "summary": []})),
        part_added(0, "rs_1"),
        within("reasoning_text.delta", 0, "rs_1", &json!({"content_index": 0, "delta": "Hm."})),
        done(0, &ended),
        completed(&[ended.clone()]),
    ]);
    assert_eq!(received.only_item()["content"], json!([{"type": "reasoning_text", "text": "Hm."}]));
    assert_eq!(received.deltas("reasoning_text.delta"), "Hm.");
}

#[test]
fn summary_and_raw_reasoning_can_interleave() {
    let raw = json!([{"type": "reasoning_text", "text": "So: hm."}]);
    let mut item = reasoning("rs_1", "Hm.", "gAAA");
    item["content"] = raw;
    let received = hears(&[completed(&[item.clone()])]);
    assert_eq!(received.only_item(), shown(&item));
    assert_eq!(received.deltas("reasoning_summary_text.delta"), "Hm.");
    assert_eq!(received.deltas("reasoning_text.delta"), "So: hm.");
}

#[test]
fn custom_input_and_mcp_arguments_are_streamed() {
    let custom = json!({"id": "ctc_1", "type": "custom_tool_call", "status": "completed",
        "call_id": "call_1", "name": "shout", "input": "hi"});
    let mcp = json!({"id": "mcp_1", "type": "mcp_call", "server_label": "x", "name": "f",
        "arguments": "{}", "output": "ok"});
    let received = hears(&[completed(&[custom.clone(), mcp.clone()])]);
    assert_eq!(received.output(), [custom, shown(&mcp)]);
    assert_eq!(received.deltas("custom_tool_call_input.delta"), "hi");
    assert_eq!(received.deltas("mcp_call_arguments.delta"), "{}");
}

#[test]
fn code_streams_into_its_item() {
    let begun = json!({"id": "ci_1", "type": "code_interpreter_call", "status": "in_progress",
        "container_id": "cntr_1", "code": null});
    let received = hears(&[
        added(0, &begun),
        within("code_interpreter_call.in_progress", 0, "ci_1", &json!({})),
        within("code_interpreter_call_code.delta", 0, "ci_1", &json!({"delta": "1+"})),
        within("code_interpreter_call_code.delta", 0, "ci_1", &json!({"delta": "1"})),
        completed(&[]),
    ]);
    assert_eq!(received.only_item()["code"], "1+1");
    assert_eq!(received.events_named("code_interpreter_call.in_progress").len(), 1);
}

#[test]
fn arguments_as_json_object_become_text() {
    let mut ended = call("fc_1", "call_1", "");
    ended["arguments"] = json!({"city": "Paris"});
    let received = hears(&[completed(&[ended])]);
    assert_eq!(received.only_item()["arguments"], r#"{"city":"Paris"}"#);
}

#[test]
fn string_content_becomes_one_part() {
    let ended = json!({"id": "msg_1", "role": "assistant", "content": "Hello"});
    let received = hears(&[completed(&[ended])]);
    assert_eq!(received.only_item(), message("msg_1", "Hello"));
}

#[test]
fn announced_items_have_required_fields() {
    let received = hears(&[
        added(0, &json!({"id": "msg_1", "type": "message"})),
        added(1, &json!({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "f"})),
        added(2, &json!({"id": "rs_1", "type": "reasoning"})),
        completed(&[]),
    ]);
    let announced = received.events_named("output_item.added");
    assert_eq!(announced[0]["item"], begun_message("msg_1"));
    assert_eq!(announced[1]["item"]["arguments"], "");
    assert_eq!(announced[1]["item"]["status"], "in_progress");
    assert_eq!(announced[2]["item"]["summary"], json!([]));
}
