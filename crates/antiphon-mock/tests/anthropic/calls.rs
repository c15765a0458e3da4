//! Calls and their results.

use serde_json::{Value, json};

use crate::request::{
    accepted, assistant, call, refused, request, result, text, user, with, without,
};

fn calling(ids: &[&str]) -> Value {
    assistant(ids.iter().map(|id| call(id)).collect::<Vec<_>>())
}

fn unanswered(message: usize, ids: &str) -> String {
    format!(
        "messages.{message}: `tool_use` ids were found without `tool_result` blocks immediately \
        after: {ids}. Each `tool_use` block must have a corresponding `tool_result` block in the \
        next message."
    )
}

fn unexpected(place: &str, id: &str) -> String {
    format!(
        "{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` \
        block must have a corresponding `tool_use` block in the previous message."
    )
}

#[test]
fn results_start_the_next_message_in_any_order() {
    let both = calling(&["a", "b"]);
    accepted(&request(&json!([user("hi"), both, user([result("b"), result("a"), text("?")])])));
}

#[test]
fn call_without_result_is_refused() {
    let both = calling(&["a", "b"]);
    for (messages, ids) in [
        (json!([user("hi"), both]), "a, b"),
        (json!([user("hi"), both, user("bye")]), "a, b"),
        (json!([user("hi"), both, user([result("a")])]), "b"),
        (json!([user("hi"), both, user([result("a")]), user([result("b")])]), "b"),
        (json!([user("hi"), both, user([result("a"), text("?"), result("b")])]), "b"),
        (json!([user("hi"), both, assistant("Wait."), user([result("a"), result("b")])]), "a, b"),
    ] {
        refused(&request(&messages), &unanswered(1, ids));
    }
}

#[test]
fn result_must_match_the_previous_message() {
    let orphan = request(&json!([user([result("a")])]));
    refused(&orphan, &unexpected("messages.0.content.0", "a"));
    let late = json!([
        user("hi"),
        calling(&["a"]),
        user([result("a")]),
        assistant("Done."),
        user([text("?"), result("a")])
    ]);
    refused(&request(&late), &unexpected("messages.4.content.1", "a"));
}

#[test]
fn second_result_is_refused() {
    let twice = json!([user("hi"), calling(&["a"]), user([result("a"), result("a")])]);
    let message = "messages.2.content.1: each tool_use must have a single result. Found multiple \
        `tool_result` blocks with id: a";
    refused(&request(&twice), message);
}

#[test]
fn duplicate_call_id_is_refused() {
    let message = "messages.1.content.1: `tool_use` ids must be unique";
    refused(&request(&json!([user("hi"), calling(&["a", "a"]), user([result("a")])])), message);
    let again = json!([
        user("hi"),
        calling(&["a"]),
        user([result("a")]),
        calling(&["a"]),
        user([result("a")])
    ]);
    refused(&request(&again), "messages.3.content.0: `tool_use` ids must be unique");
}

#[test]
fn call_id_characters_are_restricted() {
    for id in ["functions.echo:0", ""] {
        let message = "messages.1.content.0.tool_use.id: String should match pattern \
            '^[a-zA-Z0-9_-]+$'";
        refused(&request(&json!([user("hi"), calling(&[id]), user([result(id)])])), message);
    }
}

#[test]
fn call_input_must_be_an_object() {
    let quoted = with(call("a"), "input", json!("{}"));
    let message = "messages.1.content.0.tool_use.input: Input should be a valid dictionary";
    refused(&request(&json!([user("hi"), assistant([quoted]), user([result("a")])])), message);
}

#[test]
fn calls_without_tools_are_refused() {
    let called = request(&json!([user("hi"), calling(&["a"]), user([result("a")])]));
    let message = "Requests which include `tool_use` or `tool_result` blocks must define tools.";
    refused(&without(called, "tools"), message);
}
