//! Answers in one object, without streaming.

use serde_json::json;

use super::events::*;
use super::world::World;
use crate::stream::Status;

#[test]
fn whole_answer_becomes_a_stream() {
    let output =
        [reasoning("rs_1", "Hm.", "gAAA"), message("msg_1", "Hello"), call("fc_1", "call_1", "{}")];
    let response = json!({"id": "resp_up", "object": "response", "status": "completed",
        "output": output, "usage": {"total_tokens": 3}});
    let received = World::default().hears_whole(&response);
    assert_eq!(received.output(), output.each_ref().map(shown));
    assert_eq!(received.last()["response"]["usage"], json!({"total_tokens": 3}));
    let kinds = [
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ];
    assert_eq!(received.kinds(), kinds);
}

#[test]
fn answer_without_events_ends_as_with_them() {
    let text = json!({"type": "output_text", "text": "Hello"});
    let items = [
        message("msg_1", "Hello"),
        call("fc_1", "call_1", "{}"),
        reasoning("rs_1", "Hm.", "gAAA"),
        json!({"type": "message", "content": "Hello"}),
        json!({"id": "msg_2", "type": "message", "role": "assistant", "content": [text, text]}),
        json!({"id": "msg_3", "type": "message", "content": [{"type": "acme:chart"}, 7]}),
        json!({"id": "msg_4", "type": "message", "content": [], "status": "incomplete"}),
        json!({"id": "msg_5", "type": "message"}),
        json!({"id": "fc_2", "type": "function_call", "call_id": "call_2", "name": "look"}),
        json!({"type": "function_call", "call_id": 7, "name": "look", "arguments": {"a": 1}}),
        json!({"id": "rs_2", "type": "reasoning", "status": "in_progress"}),
        json!({"id": "rs_3", "type": "reasoning", "content": [{"type": "reasoning_text"}]}),
        json!({"id": "ct_1", "type": "custom_tool_call", "call_id": "call_3", "name": "run"}),
        json!({"id": "x_1", "type": "acme:thing", "status": null}),
    ];
    let all = [json!({"object": "response", "status": "completed", "output": items})];
    let alone = items.map(|item| json!({"object": "response", "output": [item]}));
    for response in all.iter().chain(&alone) {
        let [silent, heard] = World::default().ends_for_both(std::slice::from_ref(response));
        assert_eq!(silent.response, heard.response);
        assert_eq!((silent.output, silent.notes), (heard.output, heard.notes));
    }
}

#[test]
fn answer_without_events_has_emitted_output() {
    let mut silent = World::default().assembler().without_events();
    let response = json!({"output": [message("msg_1", "Hello")]});
    silent.apply_response(&response.to_string().into()).unwrap();
    assert!(silent.has_emitted_output());
    assert_eq!(silent.next_event(), None);
}

#[test]
fn whole_answer_keeps_logprobs_and_annotations() {
    let logprobs =
        json!([{"token": "Hi", "logprob": -0.1, "bytes": [72, 105], "top_logprobs": []}]);
    let mut reply = message("msg_1", "Hi");
    reply["content"][0]["logprobs"] = logprobs.clone();
    let received = World::default().hears_whole(&json!({"output": [reply]}));
    for kind in ["output_text.delta", "output_text.done"] {
        assert_eq!(received.events_named(kind)[0]["logprobs"], logprobs);
    }
    assert_eq!(received.events_named("content_part.added")[0]["part"], text_part(""));
    assert_eq!(received.events_named("content_part.done")[0]["part"], reply["content"][0]);
}

#[test]
fn non_text_part_is_opened_and_closed() {
    let mut reply = message("msg_1", "Hi");
    reply["content"] = json!([{"type": "acme:chart", "cells": [1]}]);
    let received = World::default().hears_whole(&json!({"output": [reply]}));
    assert_eq!(received.only_item(), reply);
    assert_eq!(received.events_named("content_part.added")[0]["part"], reply["content"][0]);
}

#[test]
fn whole_answer_status_follows_the_body() {
    let status =
        |response: serde_json::Value| World::default().hears_whole(&response).finished.status;
    assert_eq!(status(json!({"output": []})), Status::Completed);
    assert_eq!(status(json!({"status": "completed", "output": []})), Status::Completed);
    assert_eq!(status(json!({"status": "incomplete", "output": []})), Status::Incomplete);
    for response in [
        json!({"status": "failed", "output": [], "error": {"code": "x", "message": "y"}}),
        json!({"status": "in_progress", "output": []}),
        json!({"error": {"code": "x", "message": "y"}}),
        json!({"object": "chat.completion", "choices": []}),
        json!({}),
    ] {
        assert_eq!(status(response), Status::Failed);
    }
}

#[test]
fn error_body_is_the_failure() {
    let error = json!({"error": {"code": "x", "message": "y"}, "request_id": "req_1"});
    let received = World::default().hears_whole(&error);
    assert_eq!(received.last()["response"].get("request_id"), None);
    let failure = received.finished.failure.unwrap();
    assert_eq!((&*failure.code, &*failure.message), ("x", "y"));
}

#[test]
fn invalid_item_does_not_drop_the_others() {
    let output = json!([7, {"status": "completed"}, message("msg_1", "Hello")]);
    let received = World::default().hears_whole(&json!({"output": output}));
    assert_eq!(received.only_item(), message("msg_1", "Hello"));
}

#[test]
fn non_object_answer_is_an_error() {
    let mut assembler = World::default().assembler();
    assert!(assembler.apply_response(&bytes::Bytes::from_static(b"[]")).is_err());
    assert!(!assembler.has_ended());
}
