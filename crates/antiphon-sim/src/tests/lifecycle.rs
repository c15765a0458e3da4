//! Invariants of the stream, for every kind of answer.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Answered, add, answer, ask, echo, get_weather, user};

/// One request for each form of an answer.
fn requests() -> Vec<Value> {
    let tools = json!([echo(), get_weather(), add(), { "type": "custom", "name": "shout" }]);
    vec![
        json!({ "input": "Hello there, model" }),
        json!({ "input": "show context", "instructions": "Be kind." }),
        json!({ "input": "echo a b c, add 1 and 2, shout 'hey you'", "tools": tools,
                "include": ["reasoning.encrypted_content"] }),
        json!({ "input": "One two three four five", "max_output_tokens": 3 }),
        json!({ "input": "hi", "text": { "format": { "type": "json_object" } } }),
    ]
}

pub(super) fn for_every_answer(check: impl Fn(&Answered)) {
    for request in requests() {
        check(&ask(request));
    }
}

#[test]
fn frames_are_server_sent_events_and_end_with_the_marker() {
    for mut request in requests() {
        request["model"] = json!("sim");
        let frames: Vec<_> = answer(request.to_string().as_bytes()).unwrap().collect();
        let (marker, events) = frames.split_last().unwrap();
        assert_eq!(&marker[..], b"data: [DONE]\n\n");
        for frame in events {
            let lines: Vec<&str> = std::str::from_utf8(frame).unwrap().split('\n').collect();
            let [event, data, "", ""] = lines[..] else { panic!("not a frame: {lines:?}") };
            let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
            assert_eq!(event.strip_prefix("event: "), data["type"].as_str());
        }
    }
}

#[test]
fn sequence_numbers_begin_at_zero_and_have_no_gap() {
    for_every_answer(|answered| {
        for (expected, event) in answered.events.iter().enumerate() {
            assert_eq!(event["sequence_number"], expected);
        }
    });
}

#[test]
fn created_and_in_progress_come_first_and_one_terminal_event_last() {
    for_every_answer(|answered| {
        let types: Vec<&str> =
            answered.events.iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!(types[..2], ["response.created", "response.in_progress"]);
        let is_terminal =
            |kind: &&&str| matches!(**kind, "response.completed" | "response.incomplete");
        assert_eq!(types.iter().filter(is_terminal).count(), 1);
        assert!(is_terminal(&types.last().unwrap()));
        let id = &answered.response()["id"];
        for event in answered.events.iter().filter(|event| event.get("response").is_some()) {
            assert_eq!(&event["response"]["id"], id);
        }
    });
}

#[test]
fn each_item_is_added_once_and_done_once() {
    for_every_answer(|answered| {
        let added = answered.events_with_type("response.output_item.added");
        let done = answered.events_with_type("response.output_item.done");
        assert_eq!(added.len(), answered.items().len());
        assert_eq!(done.len(), answered.items().len());
        for (index, item) in answered.items().iter().enumerate() {
            assert_eq!(added[index]["output_index"], index);
            assert_eq!(added[index]["item"]["status"], "in_progress");
            assert_eq!(added[index]["item"]["id"], item["id"]);
            assert_eq!(done[index]["output_index"], index);
            assert_eq!(&done[index]["item"], item);
        }
    });
}

#[test]
fn item_events_are_between_added_and_done() {
    for_every_answer(|answered| {
        let mut open: Option<(Value, Value)> = None;
        for event in &answered.events {
            match event["type"].as_str().unwrap() {
                "response.output_item.added" => {
                    assert_eq!(open, None);
                    open = Some((event["item"]["id"].clone(), event["output_index"].clone()));
                }
                "response.output_item.done" => {
                    let closed = (event["item"]["id"].clone(), event["output_index"].clone());
                    assert_eq!(open.take(), Some(closed));
                }
                _ if event.get("item_id").is_some() => {
                    let place = (event["item_id"].clone(), event["output_index"].clone());
                    assert_eq!(open, Some(place));
                }
                _ => assert_eq!(open, None),
            }
        }
    });
}

#[test]
fn joined_deltas_equal_the_final_text() {
    for (delta, done, field) in [
        ("response.output_text.delta", "response.output_text.done", "text"),
        (
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "arguments",
        ),
        ("response.custom_tool_call_input.delta", "response.custom_tool_call_input.done", "input"),
        ("response.reasoning_summary_text.delta", "response.reasoning_summary_text.done", "text"),
    ] {
        let mut seen = 0;
        for request in requests() {
            let answered = ask(request);
            for end in answered.events_with_type(done) {
                seen += 1;
                let deltas = answered.events_with_type(delta);
                let deltas = deltas.iter().filter(|event| event["item_id"] == end["item_id"]);
                let joined: String = deltas.map(|event| event["delta"].as_str().unwrap()).collect();
                assert_eq!(end[field], joined);
                let item = &answered.items()
                    [usize::try_from(end["output_index"].as_u64().unwrap()).unwrap()];
                let held = match item["type"].as_str().unwrap() {
                    "message" => &item["content"][0]["text"],
                    "reasoning" => &item["summary"][0]["text"],
                    _ => &item[field],
                };
                assert_eq!(held, &joined);
            }
        }
        assert!(seen > 0, "{done} never came");
    }
}

#[test]
fn text_comes_word_by_word() {
    let answered = ask(json!({ "input": "Hello there" }));
    let deltas: Vec<&str> = answered
        .events_with_type("response.output_text.delta")
        .iter()
        .map(|event| event["delta"].as_str().unwrap())
        .collect();
    assert_eq!(deltas, ["Noted:", " Hello", " there."]);
}

#[test]
fn text_events_and_parts_carry_empty_logprobs_and_annotations() {
    let answered = ask(json!({ "input": "Hello there" }));
    for kind in ["response.output_text.delta", "response.output_text.done"] {
        assert!(answered.events_with_type(kind).iter().all(|event| event["logprobs"] == json!([])));
    }
    let part = json!({
        "type": "output_text", "text": "Noted: Hello there.", "annotations": [], "logprobs": [],
    });
    assert_eq!(answered.events_with_type("response.content_part.done")[0]["part"], part);
    assert_eq!(answered.items()[0]["content"], json!([part]));
}

#[test]
fn too_long_message_is_cut_and_incomplete() {
    let answered = ask(json!({ "input": "One two three four five", "max_output_tokens": 3 }));
    assert_eq!(answered.text(), "Noted: One two");
    assert_eq!(answered.items()[0]["status"], "incomplete");
    let response = answered.response();
    assert_eq!(answered.events.last().unwrap()["type"], "response.incomplete");
    assert_eq!(response["status"], "incomplete");
    assert_eq!(response["incomplete_details"], json!({ "reason": "max_output_tokens" }));
    assert_eq!(response["completed_at"], Value::Null);
    assert_eq!(response["usage"]["output_tokens"], 3);

    let whole = ask(json!({ "input": "One two", "max_output_tokens": 3 }));
    assert_eq!(whole.response()["status"], "completed");
}

#[test]
fn equal_requests_have_equal_answers() {
    for mut request in requests() {
        request["model"] = json!("sim");
        let body = request.to_string();
        let frames = || answer(body.as_bytes()).unwrap().collect::<Vec<_>>();
        assert_eq!(frames(), frames());
    }
}

#[test]
fn ids_never_repeat_as_the_context_grows() {
    let mut ids = HashSet::new();
    let mut input = Vec::new();
    for _ in 0..5 {
        input.push(user("echo a, echo a"));
        let answered = ask(json!({ "input": input, "tools": [echo()] }));
        assert!(ids.insert(answered.response()["id"].clone()));
        for item in answered.items() {
            assert!(ids.insert(item["id"].clone()));
            assert!(item.get("call_id").is_none_or(|call_id| ids.insert(call_id.clone())));
        }
        input.extend(answered.items().iter().cloned());
    }
}

/// Two agents may get the same input, for example after a handoff that hides the calls.
#[test]
fn ids_of_two_agents_with_one_input_differ() {
    let agents = [
        json!({ "input": "echo a", "tools": [echo()] }),
        json!({ "input": "echo a", "tools": [echo()], "instructions": "Be brief." }),
        json!({ "input": "echo a" }),
    ];
    let ids = agents.map(|agent| ask(agent).response()["id"].to_string());
    assert_eq!(HashSet::from(ids).len(), 3);
}

#[test]
fn ids_have_the_prefixes_of_their_items() {
    let answered = ask(json!({ "input": "echo a", "tools": [echo()] }));
    let prefixed = |value: &Value, prefix: &str| {
        let id = value.as_str().unwrap();
        let hex = id.strip_prefix(prefix).unwrap_or_else(|| panic!("{id} for {prefix}"));
        assert!(!hex.is_empty() && hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
        assert!(id.len() <= 64);
    };
    prefixed(&answered.response()["id"], "resp_");
    prefixed(&answered.items()[0]["id"], "rs_");
    prefixed(&answered.items()[1]["id"], "fc_");
    prefixed(&answered.items()[1]["call_id"], "call_");
    prefixed(&ask(json!({ "input": "hi" })).items()[0]["id"], "msg_");
}
