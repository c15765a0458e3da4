//! What tools gave, and who ran them.

use serde_json::{Value, json};

use super::world::*;

/// A part of a tool that the provider runs.
fn provided(mut part: Value) -> Value {
    part["providerExecuted"] = json!(true);
    part
}

/// The output that follows a call.
fn output_of(told: &Told) -> Value {
    assert_eq!(told.kinds(), ["function_call", "function_call_output"], "{}", told.story());
    let output = told.output();
    assert_eq!(output[0]["call_id"], output[1]["call_id"]);
    assert_eq!(output[1]["status"], "completed");
    output[1]["output"].clone()
}

#[test]
fn a_tool_that_the_run_executed_has_an_output() {
    for (given, output) in
        [(json!("sunny"), "sunny"), (json!({"sky": "clear"}), r#"{"sky":"clear"}"#)]
    {
        let told =
            decode(&[start_step(), call("c", json!({})), result("c", given), finish("tool-calls")]);
        assert_eq!(output_of(&told), output);
    }
}

#[test]
fn of_preliminary_results_the_final_one_counts_and_counts_once() {
    let mut preliminary = result("c", "half");
    preliminary["preliminary"] = json!(true);
    let told = decode(&[
        start_step(),
        call("c", json!({})),
        preliminary,
        result("c", "whole"),
        result("c", "whole"),
        finish("tool-calls"),
    ]);
    assert_eq!(output_of(&told), "whole");
}

#[test]
fn a_result_tells_the_input_of_a_call_whose_tool_call_is_missing() {
    let mut given = result("call_123", "sunny");
    given["input"] = json!({"location": "NYC"});
    let told = decode(&[start_step(), start("call_123"), given, finish("tool-calls")]);
    assert_eq!(output_of(&told), "sunny");
    assert_eq!(told.output()[0]["arguments"], NYC);
}

/// A run answers a call of invalid input with the error, so that the model can try again.
#[test]
fn an_invalid_input_stays_as_it_was_and_is_answered_with_the_error() {
    let said = r#"{"loc"#;
    let mut called = call("c", said);
    called["invalid"] = json!(true);
    called["error"] = json!({"name": "AI_InvalidToolInputError", "message": "No JSON."});
    let failed = json!({"type": "tool-error", "toolCallId": "c", "toolName": "get_weather", "input": said,
        "error": "No JSON."});
    let told =
        decode(&[start_step(), start("c"), delta("c", said), called, failed, finish("tool-calls")]);
    assert_eq!(output_of(&told), "No JSON.");
    assert_eq!(told.output()[0]["arguments"], said);
}

#[test]
fn a_tool_that_fails_says_why() {
    for (error, output) in [
        (json!("Boom."), "Boom."),
        (json!({"name": "Error", "message": "Boom."}), "Boom."),
        (json!({}), "The tool failed without saying why."),
    ] {
        let failed = json!({"type": "tool-error", "toolCallId": "c", "toolName": "get_weather", "error": error});
        let told = decode(&[start_step(), call("c", json!({})), failed, finish("tool-calls")]);
        assert_eq!(output_of(&told), output);
    }
}

#[test]
fn a_tool_that_was_denied_has_an_output_that_says_so() {
    let denied =
        json!({"type": "tool-output-denied", "toolCallId": "c", "toolName": "get_weather"});
    let told = decode(&[start_step(), call("c", json!({})), denied, finish("tool-calls")]);
    assert_eq!(output_of(&told), "The tool was not allowed to run.");
}

/// A tool that needed approval runs at the beginning of the next answer.
#[test]
fn the_output_of_a_call_of_an_earlier_answer_names_that_call() {
    let told = decode(&[
        json!({"type": "start"}),
        result("call_earlier", "sunny"),
        start_step(),
        finish("stop"),
    ]);
    let item = told.only_item();
    assert_eq!(item["type"], "function_call_output");
    assert_eq!((&item["call_id"], &item["output"]), (&json!("call_earlier"), &json!("sunny")));
}

#[test]
fn the_output_of_a_call_that_is_not_told_is_left_out() {
    let given = json!({"type": "tool-result", "toolCallId": "c", "output": "sunny"});
    let told = decode(&[start_step(), delta("c", "{}"), given, finish("stop")]);
    assert!(told.output().is_empty());
    assert_eq!(told.left_out().len(), 2);
}

/// Clients run every `function_call`: what the provider has run must not be one.
#[test]
fn what_the_provider_runs_is_no_function_call() {
    let called = provided(call("ws_1", r#"{"query":"x"}"#));
    let given = json!({"type": "tool-result", "toolCallId": "ws_1", "toolName": "web_search", "result": [1]});
    let told = decode(&[
        provided(start("ws_1")),
        delta("ws_1", r#"{"query":"x"}"#),
        end("ws_1"),
        called.clone(),
        given.clone(),
        finish("stop"),
    ]);
    assert_eq!(told.kinds(), ["ai-sdk:tool-call", "ai-sdk:tool-result"]);
    assert_eq!(told.output()[0]["content"], called);
    assert_eq!(told.output()[1]["content"], given);
}

#[test]
fn what_the_provider_runs_is_told_once_however_its_parts_come() {
    let called = provided(call("ws_1", json!({"q": 1})));
    let mut given = provided(result("ws_1", "found"));
    given["input"] = json!({"q": 1});
    for parts in [
        vec![called.clone(), provided(start("ws_1")), called.clone(), given.clone()],
        vec![provided(start("ws_1")), given.clone()],
        vec![provided(start("ws_1")), delta("ws_1", r#"{"q":1}"#), end("ws_1"), given],
    ] {
        let parts = [vec![start_step()], parts, vec![finish("stop")]].concat();
        assert_eq!(decode(&parts).kinds(), ["ai-sdk:tool-call", "ai-sdk:tool-result"]);
    }
}

/// That the provider runs it is said too late: it is a call by then, and is answered.
#[test]
fn a_call_that_turns_out_to_be_the_providers_is_answered() {
    let told = decode(&[
        start_step(),
        start("c"),
        provided(call("c", json!({}))),
        provided(result("c", "found")),
        finish("stop"),
    ]);
    assert_eq!(output_of(&told), "found");
}

#[test]
fn what_no_item_stands_for_is_an_extension_item() {
    for part in [
        json!({"type": "source", "sourceType": "url", "id": "1", "url": "https://a.example"}),
        json!({"type": "file", "mediaType": "image/png", "data": "iVBORw0="}),
        json!({"type": "reasoning-file", "mediaType": "image/png", "data": "iVBORw0="}),
        json!({"type": "custom", "kind": "openai.compaction", "providerMetadata": {"openai": {"itemId": "cmp_1"}}}),
        json!({"type": "tool-approval-request", "approvalId": "a", "toolCallId": "c"}),
    ] {
        let told = decode(&[part.clone(), finish("stop")]);
        let item = told.only_item();
        assert_eq!(item["type"], format!("ai-sdk:{}", part["type"].as_str().unwrap()));
        assert_eq!(item["status"], "completed");
        assert_eq!(item["content"], part);
    }
}
