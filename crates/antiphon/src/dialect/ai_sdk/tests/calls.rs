//! One item for each call, with any combination of its parts.

use serde_json::json;

use super::world::*;

/// Asserts that exactly one function call was emitted, with one id and this input.
fn is_one_call(received: &ClientView, arguments: &str) {
    let item = received.only_item();
    assert_eq!(item["type"], "function_call");
    assert_eq!((&item["call_id"], &item["name"]), (&json!("call_123"), &json!("get_weather")));
    assert_eq!(item["arguments"], arguments);
    for kind in ["output_item.added", "function_call_arguments.done", "output_item.done"] {
        assert_eq!(received.events_named(kind).len(), 1, "{kind}");
    }
    assert_eq!(received.deltas("function_call_arguments.delta"), arguments);
    assert_eq!(received.response()["status"], "completed");
}

#[test]
fn input_start_and_tool_call_emit_one_item() {
    let received = decode(&[
        start("call_123"),
        delta("call_123", r#"{"loc"#),
        delta("call_123", r#"ation":"NYC"}"#),
        call("call_123", json!({"location": "NYC"})),
        finish("tool-calls"),
    ]);
    is_one_call(&received, NYC);
    assert_eq!(received.events_named("function_call_arguments.delta").len(), 2);
}

/// A reported bug: the events that end a call used its `call_id` as the item id.
#[test]
fn item_id_is_stable_across_call_events() {
    let received =
        decode(&[start("call_123"), delta("call_123", NYC), call("call_123", NYC), finish("stop")]);
    let id = received.only_item()["id"].clone();
    let named = received.events.iter().filter_map(|event| {
        event.get("item_id").or_else(|| event.get("item").map(|item| &item["id"]))
    });
    let named: Vec<_> = named.collect();
    assert_eq!(named.len(), 4, "added, delta, arguments.done, done");
    assert!(named.iter().all(|other| **other == id));
    assert_ne!(id, "call_123");
}

/// A reported bug: deltas, or their end, without a start. Only `tool-call` names the tool.
#[test]
fn delta_without_start_waits_for_name() {
    let (one, two) = (delta("call_123", r#"{"loc"#), delta("call_123", r#"ation":"NYC"}"#));
    let received = decode(&[one.clone(), two.clone(), call("call_123", NYC), finish("tool-calls")]);
    is_one_call(&received, NYC);
    let received =
        decode(&[one, start("call_123"), two, call("call_123", NYC), finish("tool-calls")]);
    is_one_call(&received, NYC);
}

#[test]
fn input_end_without_start_waits_for_name() {
    let received = decode(&[end("call_123"), call("call_123", NYC), finish("tool-calls")]);
    is_one_call(&received, NYC);
}

#[test]
fn tool_call_without_deltas_is_decoded() {
    is_one_call(&decode(&[call("call_123", NYC), finish("tool-calls")]), NYC);
    is_one_call(&decode(&[call("call_123", json!({"location": "NYC"})), finish("stop")]), NYC);
}

#[test]
fn repeated_tool_call_is_one_call() {
    let received = decode(&[
        call("call_123", NYC),
        start("call_123"),
        delta("call_123", NYC),
        call("call_123", json!({"location": "NYC"})),
        finish("tool-calls"),
    ]);
    is_one_call(&received, NYC);
    assert!(received.left_out().is_empty());
}

/// `tool-input-end` does not end the call: the final input can differ, for example after a repair.
#[test]
fn final_input_takes_precedence() {
    let world = World::asking(json!({})).with_contradictory_upstream();
    let received = world.decode(&[
        start("call_123"),
        delta("call_123", r#"{"location":"New York"}"#),
        end("call_123"),
        call("call_123", NYC),
        finish("tool-calls"),
    ]);
    assert_eq!(received.only_item()["arguments"], NYC);
    assert_eq!(received.events_named("function_call_arguments.done")[0]["arguments"], NYC);
}

/// A `fullStream` sends the input as a value. Its text can have other escapes than the deltas.
#[test]
fn equal_final_input_keeps_bytes_of_deltas() {
    let message = r#"{ "location": "S\u00e3o Paulo", "days": 2.0 }"#;
    let received = decode(&[
        start("call_123"),
        delta("call_123", message),
        call("call_123", json!({"days": 2, "location": "São Paulo"})),
        finish("tool-calls"),
    ]);
    is_one_call(&received, message);
}

#[test]
fn empty_input_becomes_empty_object() {
    is_one_call(&decode(&[call("call_123", ""), finish("tool-calls")]), "{}");
    is_one_call(&decode(&[start("call_123"), finish("tool-calls")]), "{}");
}

#[test]
fn call_without_tool_call_ends_with_its_deltas() {
    let received =
        decode(&[start("call_123"), delta("call_123", NYC), end("call_123"), finish("stop")]);
    is_one_call(&received, NYC);
    assert_eq!(received.only_item()["status"], "completed");
}

#[test]
fn truncated_call_is_incomplete() {
    let received = decode(&[start("call_123"), delta("call_123", r#"{"loc"#), finish("length")]);
    assert_eq!(received.only_item()["status"], "incomplete");
    assert_eq!(received.response()["status"], "incomplete");
}

#[test]
fn call_without_tool_name_is_left_out() {
    let received = decode(&[delta("call_123", NYC), finish("stop")]);
    assert!(received.output().is_empty());
    assert_eq!(received.left_out().len(), 1);
}

#[test]
fn interleaved_calls_are_separated() {
    let received = decode(&[
        start("call_1"),
        start("call_2"),
        delta("call_2", r#"{"b":"#),
        delta("call_1", r#"{"a":1}"#),
        delta("call_2", "2}"),
        call("call_2", r#"{"b":2}"#),
        call("call_1", r#"{"a":1}"#),
        finish("tool-calls"),
    ]);
    let output = received.output();
    assert_eq!(
        (&output[0]["call_id"], &output[0]["arguments"]),
        (&json!("call_1"), &json!(r#"{"a":1}"#))
    );
    assert_eq!(
        (&output[1]["call_id"], &output[1]["arguments"]),
        (&json!("call_2"), &json!(r#"{"b":2}"#))
    );
}

#[test]
fn text_deltas_become_custom_tool_input() {
    let started = json!({"type": "tool-input-start", "id": "c", "toolName": "run_sql",
        "inputEncoding": "text"});
    let sql = "SELECT \"a\"\nFROM t";
    let final_of_a_model = json!(sql).to_string();
    for input in [final_of_a_model.as_str(), sql] {
        let called =
            json!({"type": "tool-call", "toolCallId": "c", "toolName": "run_sql", "input": input});
        let received = decode(&[
            started.clone(),
            delta("c", &sql[..8]),
            delta("c", &sql[8..]),
            called,
            finish("tool-calls"),
        ]);
        let item = received.only_item();
        assert_eq!((&item["type"], &item["input"]), (&json!("custom_tool_call"), &json!(sql)));
        assert_eq!(received.deltas("custom_tool_call_input.delta"), sql);
    }
}

/// The model calls a custom tool as a function. The final input shows the encoding of the text.
#[test]
fn custom_tool_input_is_extracted_from_json() {
    let world = World::asking(json!({"tools": [{"type": "custom", "name": "get_weather"}]}));
    for input in [r#""NYC""#, r#"{"input":"NYC"}"#, "NYC"] {
        let received =
            world.decode(&[start("c"), delta("c", input), call("c", input), finish("stop")]);
        let item = received.only_item();
        assert_eq!(
            (&item["type"], &item["input"]),
            (&json!("custom_tool_call"), &json!("NYC")),
            "{input}"
        );
        let cut_short = world.decode(&[start("c"), delta("c", input), finish("stop")]);
        assert_eq!(cut_short.only_item()["input"], "NYC");
    }
}

#[test]
fn text_input_makes_unknown_tool_custom() {
    let of_a_model = decode(&[call("c", r#""SELECT 1""#), finish("tool-calls")]);
    let of_a_run = decode(&[start_step(), call("c", "SELECT 1"), finish("tool-calls")]);
    for received in [of_a_model, of_a_run] {
        let item = received.only_item();
        assert_eq!(
            (&item["type"], &item["input"]),
            (&json!("custom_tool_call"), &json!("SELECT 1"))
        );
    }
    let malformed = decode(&[call("c", "{\"loc"), finish("tool-calls")]);
    assert_eq!(malformed.only_item()["type"], "function_call");
}

#[test]
fn id_reused_in_later_step_begins_call() {
    let received = decode(&[
        start_step(),
        call("call_0", json!({"n": 1})),
        result("call_0", "one"),
        finish_step("tool-calls"),
        start_step(),
        start("call_0"),
        call("call_0", json!({"n": 1})),
        result("call_0", "two"),
        finish_step("tool-calls"),
        finish("tool-calls"),
    ]);
    let (calls, outputs) =
        (received.items("function_call"), received.items("function_call_output"));
    assert_eq!((calls.len(), outputs.len()), (2, 2));
    assert_ne!(calls[0]["call_id"], calls[1]["call_id"]);
    for (call, output) in calls.iter().zip(&outputs) {
        assert_eq!(call["call_id"], output["call_id"]);
    }
    assert_eq!(outputs[1]["output"], "two");
}

/// An id identifies one call; the loss of the other call is reported.
#[test]
fn different_call_with_same_id_is_reported() {
    let received = decode(&[
        call("call_123", NYC),
        call("call_123", r#"{"location":"Rome"}"#),
        finish("stop"),
    ]);
    is_one_call(&received, NYC);
    assert_eq!(received.left_out().len(), 1);
}

#[test]
fn disallowed_call_has_no_item_or_output() {
    let world = World::asking(json!({"tool_choice": "none"}));
    let received = world.decode(&[
        start_step(),
        start("c"),
        delta("c", NYC),
        call("c", NYC),
        result("c", "sunny"),
        finish("stop"),
    ]);
    assert!(received.output().is_empty());
}
