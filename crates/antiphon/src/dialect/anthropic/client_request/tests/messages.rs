//! Messages as items.

use serde_json::{Value, json};

use super::{Anthropic, Chat, Responses, decode, items};
use crate::dialect::Seal;
use crate::transcript::Origin;

#[test]
fn conversation_becomes_items() {
    let messages = json!([
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [
            {"type": "text", "text": "One moment."},
            {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "done"},
            {"type": "text", "text": "Go on"}]},
    ]);
    let kinds = |items: &[Value]| -> Vec<String> {
        items.iter().map(|item| item["type"].as_str().unwrap().to_owned()).collect()
    };
    for upstream in [Responses, Chat, Anthropic] {
        let items = items(&messages, upstream);
        let expected = ["message", "message", "function_call", "function_call_output", "message"];
        assert_eq!(kinds(&items), expected);
        assert_eq!(items[2]["arguments"], r#"{"a":1}"#);
        assert_eq!(
            items[3],
            json!({"type": "function_call_output", "call_id": "t1",
            "output": "done"})
        );
    }
}

#[test]
fn thinking_is_sealed_for_its_upstream() {
    let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": "EqQB"});
    let messages = json!([{"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "Hi"}]}]);
    let reasoning = &items(&messages, Anthropic)[1];
    let seal = Seal::parse(reasoning["encrypted_content"].as_str().unwrap()).unwrap();
    assert_eq!(seal.origin.as_str(), "host m");
    assert_eq!(serde_json::from_str::<Value>(&seal.content).unwrap(), thinking);
}

/// The writer gives the client the encrypted reasoning of other upstreams as a signature.
#[test]
fn sealed_reasoning_of_another_upstream_comes_back() {
    let sealed = r#"{"antiphon":"chat","origin":"host m","content":{"reasoning_content":"Hm."}}"#;
    let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": sealed});
    let messages = json!([{"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "Hi"}]}]);
    assert_eq!(items(&messages, Chat)[1]["encrypted_content"], sealed);
}

/// A server of the Responses API gets its own encrypted reasoning back, and no other server does.
#[test]
fn encrypted_reasoning_comes_back_to_its_origin() {
    let returned = |origin: &str| {
        let seal = Seal::from_encrypted("gAAAAABm", Origin::new(origin)).to_text();
        let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": seal});
        let messages = json!([{"role": "user", "content": "Hello"},
            {"role": "assistant", "content": [thinking, {"type": "text", "text": "Hi"}]}]);
        items(&messages, Responses)[1].clone()
    };
    let own = json!({"type": "reasoning", "encrypted_content": "gAAAAABm",
        "summary": [{"type": "summary_text", "text": "Hm."}]});
    assert_eq!(returned("host m"), own);
    let other = returned("host other");
    assert!(Seal::parse(other["encrypted_content"].as_str().unwrap()).is_some());
}

#[test]
fn blocks_of_anthropics_tools_do_not_reach_a_responses_upstream() {
    let searched = json!({"type": "server_tool_use", "id": "s1", "name": "web_search",
        "input": {}});
    let messages = json!([{"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [searched, {"type": "text", "text": "Found."}]}]);
    assert_eq!(items(&messages, Anthropic)[1]["content"], searched);
    let (_, omissions) = decode(&json!({"messages": messages}), Responses);
    assert_eq!(omissions, ["messages"]);
    assert_eq!(items(&messages, Responses).len(), 2);
}

#[test]
fn error_of_a_tool_is_reported() {
    let messages = json!([{"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "t1", "name": "f", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": true}]}]);
    let (_, omissions) = decode(&json!({"messages": messages}), Responses);
    assert_eq!(omissions, ["messages.2.content.0.is_error"]);
}
