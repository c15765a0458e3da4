//! The outputs of tools, and the parties that run them.

use serde_json::{Value, json};

use super::world::*;

/// A part of a provider tool.
fn provided(mut part: Value) -> Value {
    part["providerExecuted"] = json!(true);
    part
}

/// The output after a call.
fn output_of(received: &ClientView) -> Value {
    assert_eq!(received.kinds(), ["function_call", "function_call_output"], "{}", received.story());
    let output = received.output();
    assert_eq!(output[0]["call_id"], output[1]["call_id"]);
    assert_eq!(output[1]["status"], "completed");
    output[1]["output"].clone()
}

#[test]
fn tool_run_by_client_has_output() {
    for (given, output) in
        [(json!("sunny"), "sunny"), (json!({"sky": "clear"}), r#"{"sky":"clear"}"#)]
    {
        let received =
            decode(&[start_step(), call("c", json!({})), result("c", given), finish("tool-calls")]);
        assert_eq!(output_of(&received), output);
    }
}

#[test]
fn only_final_result_is_emitted() {
    let mut preliminary = result("c", "half");
    preliminary["preliminary"] = json!(true);
    let received = decode(&[
        start_step(),
        call("c", json!({})),
        preliminary,
        result("c", "whole"),
        result("c", "whole"),
        finish("tool-calls"),
    ]);
    assert_eq!(output_of(&received), "whole");
}

#[test]
fn result_supplies_input_of_missing_tool_call() {
    let mut given = result("call_123", "sunny");
    given["input"] = json!({"location": "NYC"});
    let received = decode(&[start_step(), start("call_123"), given, finish("tool-calls")]);
    assert_eq!(output_of(&received), "sunny");
    assert_eq!(received.output()[0]["arguments"], NYC);
}

/// A run returns the error for a call with invalid input, so that the model can try again.
#[test]
fn invalid_input_is_kept_and_error_is_output() {
    let message = r#"{"loc"#;
    let mut called = call("c", message);
    called["invalid"] = json!(true);
    called["error"] = json!({"name": "AI_InvalidToolInputError", "message": "No JSON."});
    let failed = json!({"type": "tool-error", "toolCallId": "c", "toolName": "get_weather",
        "input": message, "error": "No JSON."});
    let received = decode(&[
        start_step(),
        start("c"),
        delta("c", message),
        called,
        failed,
        finish("tool-calls"),
    ]);
    assert_eq!(output_of(&received), "No JSON.");
    assert_eq!(received.output()[0]["arguments"], message);
}

#[test]
fn tool_error_message_becomes_output() {
    for (error, output) in [
        (json!("Boom."), "Boom."),
        (json!({"name": "Error", "message": "Boom."}), "Boom."),
        (json!({}), "The tool failed without an error message."),
    ] {
        let failed = json!({"type": "tool-error", "toolCallId": "c", "toolName": "get_weather",
            "error": error});
        let received = decode(&[start_step(), call("c", json!({})), failed, finish("tool-calls")]);
        assert_eq!(output_of(&received), output);
    }
}

#[test]
fn denied_tool_has_output() {
    let denied =
        json!({"type": "tool-output-denied", "toolCallId": "c", "toolName": "get_weather"});
    let received = decode(&[start_step(), call("c", json!({})), denied, finish("tool-calls")]);
    assert_eq!(output_of(&received), "The tool was not allowed to run.");
}

/// A tool that needs approval runs at the beginning of the next answer.
#[test]
fn output_for_earlier_call_names_that_call() {
    let received = decode(&[
        json!({"type": "start"}),
        result("call_earlier", "sunny"),
        start_step(),
        finish("stop"),
    ]);
    let item = received.only_item();
    assert_eq!(item["type"], "function_call_output");
    assert_eq!((&item["call_id"], &item["output"]), (&json!("call_earlier"), &json!("sunny")));
}

#[test]
fn output_of_left_out_call_is_left_out() {
    let given = json!({"type": "tool-result", "toolCallId": "c", "output": "sunny"});
    let received = decode(&[start_step(), delta("c", "{}"), given, finish("stop")]);
    assert!(received.output().is_empty());
    assert_eq!(received.left_out().len(), 2);
}

/// Clients run every `function_call`, so a call that the provider has run must not become one.
#[test]
fn provider_tool_is_not_a_function_call() {
    let called = provided(call("ws_1", r#"{"query":"x"}"#));
    let given = json!({"type": "tool-result", "toolCallId": "ws_1", "toolName": "web_search",
        "result": [1]});
    let received = decode(&[
        provided(start("ws_1")),
        delta("ws_1", r#"{"query":"x"}"#),
        end("ws_1"),
        called.clone(),
        given.clone(),
        finish("stop"),
    ]);
    assert_eq!(received.kinds(), ["ai-sdk:tool-call", "ai-sdk:tool-result"]);
    assert_eq!(received.output()[0]["content"], called);
    assert_eq!(received.output()[1]["content"], given);
}

#[test]
fn provider_call_is_emitted_once_for_any_parts() {
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

/// The part that names the provider comes too late: the call has been emitted, and gets an output.
#[test]
fn late_provider_call_gets_output() {
    let received = decode(&[
        start_step(),
        start("c"),
        provided(call("c", json!({}))),
        provided(result("c", "found")),
        finish("stop"),
    ]);
    assert_eq!(output_of(&received), "found");
}

#[test]
fn unsupported_parts_become_extension_items() {
    for part in [
        json!({"type": "source", "sourceType": "url", "id": "1", "url": "https://a.example"}),
        json!({"type": "file", "mediaType": "image/png", "data": "iVBORw0="}),
        json!({"type": "reasoning-file", "mediaType": "image/png", "data": "iVBORw0="}),
        json!({"type": "custom", "kind": "openai.compaction",
            "providerMetadata": {"openai": {"itemId": "cmp_1"}}}),
        json!({"type": "tool-approval-request", "approvalId": "a", "toolCallId": "c"}),
    ] {
        let received = decode(&[part.clone(), finish("stop")]);
        let item = received.only_item();
        assert_eq!(item["type"], format!("ai-sdk:{}", part["type"].as_str().unwrap()));
        assert_eq!(item["status"], "completed");
        assert_eq!(item["content"], part);
    }
}
