//! Thinking blocks.

use serde_json::json;

use super::world::{answers, delta, kinds, sealed, start, stop, text, thinking};

#[test]
fn thinking_becomes_reasoning_with_sealed_block() {
    let told = answers("end_turn", &[thinking(0, &["Let me", " see\n"], "EqQB"), text(1, &["4"])]);
    assert_eq!(kinds(&told), ["reasoning", "message"]);
    let reasoning = &told.output()[0];
    assert_eq!(reasoning["content"], json!([{"type": "reasoning_text", "text": "Let me see\n"}]));
    assert_eq!(reasoning["summary"], json!([]));
    let block = json!({"type": "thinking", "thinking": "Let me see\n", "signature": "EqQB"});
    assert_eq!(sealed(reasoning), block);
}

#[test]
fn hidden_thinking_is_sealed() {
    let told = answers("end_turn", &[thinking(0, &[], "EqQB"), text(1, &["4"])]);
    let block = json!({"type": "thinking", "thinking": "", "signature": "EqQB"});
    assert_eq!(sealed(&told.output()[0]), block);
    assert!(told.of("reasoning_text.delta").is_empty());
}

#[test]
fn redacted_thinking_becomes_reasoning_without_text() {
    let block = json!({"type": "redacted_thinking", "data": "EmwK"});
    let told = answers("end_turn", &[vec![start(0, &block), stop(0)], text(1, &["4"])]);
    assert_eq!(kinds(&told), ["reasoning", "message"]);
    assert_eq!(sealed(&told.output()[0]), block);
}

#[test]
fn last_signature_wins() {
    let mut events = thinking(0, &["Hm"], "first");
    events.insert(3, delta(0, "signature_delta", "signature", &json!("second")));
    let told = answers("end_turn", &[events]);
    assert_eq!(sealed(&told.only_item())["signature"], "second");
}

/// Anthropic rejects thinking without a signature, so the block cannot be returned.
#[test]
fn thinking_without_signature_is_not_sealed() {
    let told = answers("end_turn", &[thinking(0, &["Hm"], ""), text(1, &["4"])]);
    assert_eq!(kinds(&told), ["reasoning", "message"]);
    let reasoning = &told.output()[0];
    assert_eq!(reasoning["content"][0]["text"], "Hm");
    assert!(reasoning.get("encrypted_content").is_none());
}

#[test]
fn truncated_thinking_is_not_sealed() {
    let told = answers("max_tokens", &[thinking(0, &["Hm"], "")]);
    let reasoning = told.only_item();
    assert_eq!(reasoning["content"][0]["text"], "Hm");
    assert!(reasoning.get("encrypted_content").is_none());
}
