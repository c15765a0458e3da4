//! Thinking blocks.

use serde_json::json;

use super::world::{answers, delta, kinds, sealed, start, stop, text, thinking};

#[test]
fn thinking_is_reasoning_with_its_block_sealed() {
    let told = answers("end_turn", &[thinking(0, &["Let me", " see\n"], "EqQB"), text(1, &["4"])]);
    assert_eq!(kinds(&told), ["reasoning", "message"]);
    let reasoning = &told.output()[0];
    assert_eq!(reasoning["content"], json!([{"type": "reasoning_text", "text": "Let me see\n"}]));
    assert_eq!(reasoning["summary"], json!([]));
    let block = json!({"type": "thinking", "thinking": "Let me see\n", "signature": "EqQB"});
    assert_eq!(sealed(reasoning), block);
}

#[test]
fn thinking_that_is_not_shown_is_sealed_all_the_same() {
    let told = answers("end_turn", &[thinking(0, &[], "EqQB"), text(1, &["4"])]);
    let block = json!({"type": "thinking", "thinking": "", "signature": "EqQB"});
    assert_eq!(sealed(&told.output()[0]), block);
    assert!(told.of("reasoning_text.delta").is_empty());
}

#[test]
fn redacted_thinking_is_reasoning_that_says_nothing() {
    let block = json!({"type": "redacted_thinking", "data": "EmwK"});
    let told = answers("end_turn", &[vec![start(0, &block), stop(0)], text(1, &["4"])]);
    assert_eq!(kinds(&told), ["reasoning", "message"]);
    assert_eq!(sealed(&told.output()[0]), block);
}

#[test]
fn the_last_of_two_signatures_counts() {
    let mut events = thinking(0, &["Hm"], "first");
    events.insert(3, delta(0, "signature_delta", "signature", &json!("second")));
    let told = answers("end_turn", &[events]);
    assert_eq!(sealed(&told.only_item())["signature"], "second");
}

/// It could not go back: Anthropic refuses thinking without a signature.
#[test]
fn thinking_without_a_signature_is_not_sealed() {
    let told = answers("end_turn", &[thinking(0, &["Hm"], ""), text(1, &["4"])]);
    assert_eq!(kinds(&told), ["reasoning", "message"]);
    let reasoning = &told.output()[0];
    assert_eq!(reasoning["content"][0]["text"], "Hm");
    assert!(reasoning.get("encrypted_content").is_none());
}

#[test]
fn thinking_that_was_cut_short_is_not_sealed() {
    let told = answers("max_tokens", &[thinking(0, &["Hm"], "")]);
    let reasoning = told.only_item();
    assert_eq!(reasoning["content"][0]["text"], "Hm");
    assert!(reasoning.get("encrypted_content").is_none());
}
