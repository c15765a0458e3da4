//! One item for each call, by whichever of its parts it comes.

use serde_json::json;

use super::world::*;

/// One function call was told, under one id, with this input.
fn is_one_call(told: &Told, arguments: &str) {
    let item = told.only_item();
    assert_eq!(item["type"], "function_call");
    assert_eq!((&item["call_id"], &item["name"]), (&json!("call_123"), &json!("get_weather")));
    assert_eq!(item["arguments"], arguments);
    for kind in ["output_item.added", "function_call_arguments.done", "output_item.done"] {
        assert_eq!(told.of(kind).len(), 1, "{kind}");
    }
    assert_eq!(told.deltas("function_call_arguments.delta"), arguments);
    assert_eq!(told.response()["status"], "completed");
}

#[test]
fn should_emit_only_one_output_item_added_when_both_tool_input_start_and_tool_call_fire() {
    let told = decode(&[
        start("call_123"),
        delta("call_123", r#"{"loc"#),
        delta("call_123", r#"ation":"NYC"}"#),
        call("call_123", json!({"location": "NYC"})),
        finish("tool-calls"),
    ]);
    is_one_call(&told, NYC);
    assert_eq!(told.of("function_call_arguments.delta").len(), 2);
}

/// First follow-up of the report: the events that end a call named it by its `call_id`.
#[test]
fn item_id_is_the_same_in_all_events_of_a_call() {
    let told =
        decode(&[start("call_123"), delta("call_123", NYC), call("call_123", NYC), finish("stop")]);
    let id = told.only_item()["id"].clone();
    let named = told.events.iter().filter_map(|event| {
        event.get("item_id").or_else(|| event.get("item").map(|item| &item["id"]))
    });
    let named: Vec<_> = named.collect();
    assert_eq!(named.len(), 4, "added, delta, arguments.done, done");
    assert!(named.iter().all(|other| **other == id));
    assert_ne!(id, "call_123");
}

/// Second follow-up: pieces, or their end, without a start. The tool is known by `tool-call` only.
#[test]
fn a_delta_without_a_start_waits_for_the_name() {
    let (one, two) = (delta("call_123", r#"{"loc"#), delta("call_123", r#"ation":"NYC"}"#));
    let told = decode(&[one.clone(), two.clone(), call("call_123", NYC), finish("tool-calls")]);
    is_one_call(&told, NYC);
    let told = decode(&[one, start("call_123"), two, call("call_123", NYC), finish("tool-calls")]);
    is_one_call(&told, NYC);
}

#[test]
fn an_end_without_a_start_waits_for_the_name() {
    let told = decode(&[end("call_123"), call("call_123", NYC), finish("tool-calls")]);
    is_one_call(&told, NYC);
}

#[test]
fn a_tool_call_alone_is_a_call() {
    is_one_call(&decode(&[call("call_123", NYC), finish("tool-calls")]), NYC);
    is_one_call(&decode(&[call("call_123", json!({"location": "NYC"})), finish("stop")]), NYC);
}

#[test]
fn a_call_that_is_told_again_is_the_same_call() {
    let told = decode(&[
        call("call_123", NYC),
        start("call_123"),
        delta("call_123", NYC),
        call("call_123", json!({"location": "NYC"})),
        finish("tool-calls"),
    ]);
    is_one_call(&told, NYC);
    assert!(told.left_out().is_empty());
}

/// `tool-input-end` ends nothing: the final input can differ, as when a call was repaired.
#[test]
fn the_final_input_counts() {
    let world = World::asking(json!({})).of_a_contradictory_upstream();
    let told = world.decode(&[
        start("call_123"),
        delta("call_123", r#"{"location":"New York"}"#),
        end("call_123"),
        call("call_123", NYC),
        finish("tool-calls"),
    ]);
    assert_eq!(told.only_item()["arguments"], NYC);
    assert_eq!(told.of("function_call_arguments.done")[0]["arguments"], NYC);
}

/// A `fullStream` gives the input as a value, whose text says the same with other escapes.
#[test]
fn an_input_written_otherwise_stays_as_its_pieces_wrote_it() {
    let said = r#"{ "location": "S\u00e3o Paulo", "days": 2.0 }"#;
    let told = decode(&[
        start("call_123"),
        delta("call_123", said),
        call("call_123", json!({"days": 2, "location": "São Paulo"})),
        finish("tool-calls"),
    ]);
    is_one_call(&told, said);
}

#[test]
fn an_empty_input_is_an_empty_object() {
    is_one_call(&decode(&[call("call_123", ""), finish("tool-calls")]), "{}");
    is_one_call(&decode(&[start("call_123"), finish("tool-calls")]), "{}");
}

#[test]
fn a_call_whose_tool_call_never_comes_ends_with_what_it_said() {
    let told =
        decode(&[start("call_123"), delta("call_123", NYC), end("call_123"), finish("stop")]);
    is_one_call(&told, NYC);
    assert_eq!(told.only_item()["status"], "completed");
}

#[test]
fn a_call_that_a_limit_cuts_short_is_incomplete() {
    let told = decode(&[start("call_123"), delta("call_123", r#"{"loc"#), finish("length")]);
    assert_eq!(told.only_item()["status"], "incomplete");
    assert_eq!(told.response()["status"], "incomplete");
}

#[test]
fn a_call_that_never_names_its_tool_is_left_out() {
    let told = decode(&[delta("call_123", NYC), finish("stop")]);
    assert!(told.output().is_empty());
    assert_eq!(told.left_out().len(), 1);
}

#[test]
fn parallel_calls_may_interleave() {
    let told = decode(&[
        start("call_1"),
        start("call_2"),
        delta("call_2", r#"{"b":"#),
        delta("call_1", r#"{"a":1}"#),
        delta("call_2", "2}"),
        call("call_2", r#"{"b":2}"#),
        call("call_1", r#"{"a":1}"#),
        finish("tool-calls"),
    ]);
    let output = told.output();
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
fn text_deltas_are_the_input_of_a_custom_tool() {
    let started = json!({"type": "tool-input-start", "id": "c", "toolName": "run_sql", "inputEncoding": "text"});
    let sql = "SELECT \"a\"\nFROM t";
    let final_of_a_model = json!(sql).to_string();
    for input in [final_of_a_model.as_str(), sql] {
        let called =
            json!({"type": "tool-call", "toolCallId": "c", "toolName": "run_sql", "input": input});
        let told = decode(&[
            started.clone(),
            delta("c", &sql[..8]),
            delta("c", &sql[8..]),
            called,
            finish("tool-calls"),
        ]);
        let item = told.only_item();
        assert_eq!((&item["type"], &item["input"]), (&json!("custom_tool_call"), &json!(sql)));
        assert_eq!(told.deltas("custom_tool_call_input.delta"), sql);
    }
}

/// A custom tool that the model calls as a function: the final input shows what the text is.
#[test]
fn a_custom_tool_called_with_json_is_given_its_text() {
    let world = World::asking(json!({"tools": [{"type": "custom", "name": "get_weather"}]}));
    for input in [r#""NYC""#, r#"{"input":"NYC"}"#, "NYC"] {
        let told = world.decode(&[start("c"), delta("c", input), call("c", input), finish("stop")]);
        let item = told.only_item();
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
fn the_final_input_shows_that_an_unknown_tool_takes_text() {
    let of_a_model = decode(&[call("c", r#""SELECT 1""#), finish("tool-calls")]);
    let of_a_run = decode(&[start_step(), call("c", "SELECT 1"), finish("tool-calls")]);
    for told in [of_a_model, of_a_run] {
        let item = told.only_item();
        assert_eq!(
            (&item["type"], &item["input"]),
            (&json!("custom_tool_call"), &json!("SELECT 1"))
        );
    }
    let malformed = decode(&[call("c", "{\"loc"), finish("tool-calls")]);
    assert_eq!(malformed.only_item()["type"], "function_call");
}

#[test]
fn an_id_that_a_later_step_uses_again_is_another_call() {
    let told = decode(&[
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
    let (calls, outputs) = (told.items("function_call"), told.items("function_call_output"));
    assert_eq!((calls.len(), outputs.len()), (2, 2));
    assert_ne!(calls[0]["call_id"], calls[1]["call_id"]);
    for (call, output) in calls.iter().zip(&outputs) {
        assert_eq!(call["call_id"], output["call_id"]);
    }
    assert_eq!(outputs[1]["output"], "two");
}

/// One id is one call; what is lost by that is said.
#[test]
fn another_call_under_the_same_id_is_named() {
    let told = decode(&[
        call("call_123", NYC),
        call("call_123", r#"{"location":"Rome"}"#),
        finish("stop"),
    ]);
    is_one_call(&told, NYC);
    assert_eq!(told.left_out().len(), 1);
}

#[test]
fn a_call_that_the_request_rules_out_has_no_item_and_no_output() {
    let world = World::asking(json!({"tool_choice": "none"}));
    let told = world.decode(&[
        start_step(),
        start("c"),
        delta("c", NYC),
        call("c", NYC),
        result("c", "sunny"),
        finish("stop"),
    ]);
    assert!(told.output().is_empty());
}
