//! Thinking blocks.

use serde_json::json;

use super::world::{answers, delta, kinds, sealed, start, stop, text, thinking};

#[test]
fn thinking_becomes_reasoning_with_sealed_block() {
    let received =
        answers("end_turn", &[thinking(0, &["Let me", " see\n"], "EqQB"), text(1, &["4"])]);
    assert_eq!(kinds(&received), ["reasoning", "message"]);
    let reasoning = &received.output()[0];
    assert_eq!(reasoning["summary"], json!([{"type": "summary_text", "text": "Let me see\n"}]));
    assert!(reasoning.get("content").is_none());
    let block = json!({"type": "thinking", "thinking": "Let me see\n", "signature": "EqQB"});
    assert_eq!(sealed(reasoning), block);
}

#[test]
fn hidden_thinking_is_sealed() {
    let received = answers("end_turn", &[thinking(0, &[], "EqQB"), text(1, &["4"])]);
    let block = json!({"type": "thinking", "thinking": "", "signature": "EqQB"});
    assert_eq!(sealed(&received.output()[0]), block);
    assert!(received.events_named("reasoning_summary_text.delta").is_empty());
}

#[test]
fn redacted_thinking_becomes_reasoning_without_text() {
    let block = json!({"type": "redacted_thinking", "data": "EmwK"});
    let received = answers("end_turn", &[vec![start(0, &block), stop(0)], text(1, &["4"])]);
    assert_eq!(kinds(&received), ["reasoning", "message"]);
    assert_eq!(sealed(&received.output()[0]), block);
}

#[test]
fn last_signature_wins() {
    let mut events = thinking(0, &["Hm"], "first");
    events.insert(3, delta(0, "signature_delta", "signature", &json!("second")));
    let received = answers("end_turn", &[events]);
    assert_eq!(sealed(&received.only_item())["signature"], "second");
}

/// Anthropic rejects thinking without a signature, so the block cannot be returned.
#[test]
fn thinking_without_signature_is_not_sealed() {
    let received = answers("end_turn", &[thinking(0, &["Hm"], ""), text(1, &["4"])]);
    assert_eq!(kinds(&received), ["reasoning", "message"]);
    let reasoning = &received.output()[0];
    assert_eq!(reasoning["summary"][0]["text"], "Hm");
    assert!(reasoning.get("encrypted_content").is_none());
}

#[test]
fn truncated_thinking_is_not_sealed() {
    let received = answers("max_tokens", &[thinking(0, &["Hm"], "")]);
    let reasoning = received.only_item();
    assert_eq!(reasoning["summary"][0]["text"], "Hm");
    assert!(reasoning.get("encrypted_content").is_none());
}
