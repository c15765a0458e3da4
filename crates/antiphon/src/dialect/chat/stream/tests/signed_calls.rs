//! Calls with a signature of the preceding thoughts, as Gemini sends them.

use serde_json::{Value, json};

use super::calls::{begun, more};
use super::{called, calls, calls_of, decode, finish, left_out, named_call, origin, text};
use crate::dialect::{Dialect, Seal};
use crate::stream::tests::world::ClientView;

fn signed(mut call: Value, signature: &str) -> Value {
    call["extra_content"] = json!({"google": {"thought_signature": signature}});
    call
}

/// The sealed content of the reasoning at this position of the output.
fn sealed(received: &ClientView, at: usize) -> Value {
    let item = &received.output()[at];
    assert_eq!(item["type"], "reasoning", "{}", received.story());
    let seal = Seal::parse(item["encrypted_content"].as_str().unwrap()).unwrap();
    assert_eq!((seal.dialect, seal.origin), (Dialect::Chat, origin()));
    serde_json::from_str(&seal.content).unwrap()
}

fn wanted_back(call_id: &str, signature: &str) -> Value {
    json!({"tool_calls": [signed(json!({"id": call_id}), signature)]})
}

fn kinds(received: &ClientView) -> Vec<String> {
    received.output().iter().map(|item| item["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn signature_is_sealed_in_reasoning_before_call() {
    let call = signed(begun(0, "call_1", "f", "{}"), "AAA");
    let other = begun(1, "call_2", "g", "{}");
    let received = decode(&[text("So:"), calls(&json!([call, other])), finish("tool_calls")]);
    assert_eq!(kinds(&received), ["message", "reasoning", "function_call", "function_call"]);
    assert_eq!(sealed(&received, 1), wanted_back("call_1", "AAA"));
    assert_eq!(called(&received), [named_call("f", "{}"), named_call("g", "{}")]);
    assert!(left_out(&received).is_empty());
}

#[test]
fn each_signed_call_has_own_reasoning() {
    let call = |at, id| signed(begun(at, id, "f", "{}"), id);
    let pieces = json!([call(0, "call_1"), call(1, "call_2")]);
    let received = decode(&[calls(&pieces), finish("stop")]);
    assert_eq!(kinds(&received), ["reasoning", "function_call", "reasoning", "function_call"]);
    assert_eq!(sealed(&received, 0), wanted_back("call_1", "call_1"));
    assert_eq!(sealed(&received, 2), wanted_back("call_2", "call_2"));
}

#[test]
fn signature_is_sealed_under_emitted_call_id() {
    let received =
        decode(&[calls(&json!([signed(begun(0, "", "f", "{}"), "AAA")])), finish("stop")]);
    let (_, _, call_id) = &calls_of(&received)[0];
    assert_eq!(sealed(&received, 0), wanted_back(call_id, "AAA"));
}

/// The call has been announced, so the signature can no longer precede it.
#[test]
fn late_signature_is_left_out() {
    let begun = calls(&json!([begun(0, "call_1", "f", "{")]));
    let received = decode(&[begun, calls(&json!([signed(more(0, "}"), "AAA")])), finish("stop")]);
    assert_eq!(called(&received), [named_call("f", "{}")]);
    assert_eq!(left_out(&received), ["field of a tool call 'extra_content'"]);
}
