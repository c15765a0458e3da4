//! Reasoning, and the data that its provider requires back.

use serde_json::{Value, json};

use super::world::*;
use crate::dialect::{Dialect, Seal};
use crate::transcript::Origin;

fn reasoning(kind: &str, id: &str, delta: &str, metadata: &Value) -> Value {
    json!({"type": format!("reasoning-{kind}"), "id": id, "delta": delta,
        "providerMetadata": metadata})
}

/// The sealed content of the only reasoning item.
fn seal(received: &ClientView) -> Seal {
    let item = &received.items("reasoning")[0];
    Seal::parse(item["encrypted_content"].as_str().unwrap()).unwrap()
}

fn is_sealed(received: &ClientView, dialect: Dialect, content: &Value) {
    let seal = seal(received);
    assert_eq!((seal.dialect, seal.origin), (dialect, Origin::new("sdk model")));
    assert_eq!(serde_json::from_str::<Value>(&seal.content).unwrap(), *content);
}

/// The OpenAI provider streams each part of a summary as its own reasoning. The end of the last
/// part has the encrypted content.
#[test]
fn summary_parts_become_one_item() {
    let begun = json!({"openai": {"itemId": "rs_1", "reasoningEncryptedContent": null}});
    let own = json!({"openai": {"itemId": "rs_1"}});
    let ended = json!({"openai": {"itemId": "rs_1", "reasoningEncryptedContent": "gAAAAABm"}});
    let received = decode(&[
        reasoning("start", "rs_1:0", "", &begun),
        reasoning("delta", "rs_1:0", "One.", &own),
        reasoning("end", "rs_1:0", "", &own),
        reasoning("start", "rs_1:1", "", &begun),
        reasoning("delta", "rs_1:1", "Two.", &own),
        reasoning("end", "rs_1:1", "", &ended),
        json!({"type": "text-delta", "id": "0", "delta": "Hello."}),
        finish("stop"),
    ]);
    assert_eq!(received.kinds(), ["reasoning", "message"]);
    let item = &received.output()[0];
    let part = |text: &str| json!({"type": "summary_text", "text": text});
    assert_eq!(item["summary"], json!([part("One."), part("Two.")]));
    assert_eq!((&item["id"], &item["encrypted_content"]), (&json!("rs_1"), &json!("gAAAAABm")));
}

/// The summary ended before the limit, so the item is complete and keeps its encrypted content.
#[test]
fn ended_summary_is_complete_for_any_end() {
    let own = json!({"openai": {"itemId": "rs_1", "reasoningEncryptedContent": "gAAAAABm"}});
    let reasoned =
        [reasoning("start", "rs_1:0", "", &own), reasoning("end", "rs_1:0", "", &own)].to_vec();
    for ending in [finish("length"), finish("error"), json!({"type": "abort"})] {
        let received = decode(&[reasoned.clone(), vec![ending]].concat());
        assert_eq!(received.only_item()["encrypted_content"], "gAAAAABm");
    }
}

/// If the server stores the item, the client need not return encrypted content.
#[test]
fn stored_reasoning_has_no_encrypted_content() {
    let own = json!({"openai": {"itemId": "rs_1", "reasoningEncryptedContent": null}});
    let received = decode(&[
        reasoning("start", "rs_1:0", "", &own),
        reasoning("end", "rs_1:0", "", &own),
        finish("stop"),
    ]);
    assert!(received.only_item().get("encrypted_content").is_none());
}

/// The provider for Open Responses uses the id of the item as the id of the part.
#[test]
fn encrypted_content_keeps_its_item_id() {
    let ended = json!({"upstream": {"itemId": "rs_1", "reasoningEncryptedContent": "gAAAAABm"}});
    let received = decode(&[
        json!({"type": "reasoning-start", "id": "rs_1"}),
        json!({"type": "reasoning-delta", "id": "rs_1", "delta": "Hm."}),
        reasoning("end", "rs_1", "", &ended),
        finish("stop"),
    ]);
    let item = received.only_item();
    assert_eq!((&item["id"], &item["encrypted_content"]), (&json!("rs_1"), &json!("gAAAAABm")));
    assert_eq!(item["summary"], json!([{"type": "summary_text", "text": "Hm."}]));
}

#[test]
fn signature_is_sealed_as_anthropic_block() {
    let received = decode(&[
        json!({"type": "reasoning-start", "id": "0"}),
        json!({"type": "reasoning-delta", "id": "0", "delta": "a \"b\""}),
        json!({"type": "reasoning-delta", "id": "0", "delta": "\nc"}),
        reasoning("delta", "0", "", &json!({"anthropic": {"signature": "EqQB"}})),
        json!({"type": "reasoning-end", "id": "0"}),
        finish("stop"),
    ]);
    let block = json!({"type": "thinking", "thinking": "a \"b\"\nc", "signature": "EqQB"});
    is_sealed(&received, Dialect::Anthropic, &block);
    assert_eq!(received.only_item()["summary"][0]["text"], "a \"b\"\nc");
}

#[test]
fn redacted_reasoning_is_sealed() {
    let started = reasoning("start", "0", "", &json!({"anthropic": {"redactedData": "EmwK"}}));
    let block = json!({"type": "redacted_thinking", "data": "EmwK"});
    let received = decode(&[started, json!({"type": "reasoning-end", "id": "0"}), finish("stop")]);
    is_sealed(&received, Dialect::Anthropic, &block);
    let lone_end = reasoning("end", "0", "", &json!({"anthropic": {"redactedData": "EmwK"}}));
    is_sealed(&decode(&[lone_end, finish("stop")]), Dialect::Anthropic, &block);
}

#[test]
fn other_metadata_is_sealed_as_sdk_part() {
    let metadata = json!({"google": {"thoughtSignature": "CkQB"}});
    let received = decode(&[reasoning("delta", "0", "Hm.", &metadata), finish("stop")]);
    let part = json!({"type": "reasoning", "text": "Hm.", "providerOptions": metadata});
    is_sealed(&received, Dialect::AiSdk, &part);
}

#[test]
fn reasoning_without_metadata_is_not_sealed() {
    let received = decode(&[
        json!({"type": "reasoning-start", "id": "0", "providerMetadata": {"upstream": {}}}),
        json!({"type": "reasoning-delta", "id": "0", "text": "Hm."}),
        json!({"type": "reasoning-end", "id": "0"}),
        finish("stop"),
    ]);
    let item = received.only_item();
    assert_eq!(item["summary"], json!([{"type": "summary_text", "text": "Hm."}]));
    assert!(item.get("encrypted_content").is_none());
}

#[test]
fn end_without_start_is_ignored() {
    assert!(
        decode(&[json!({"type": "reasoning-end", "id": "0"}), finish("stop")]).output().is_empty()
    );
}

#[test]
fn id_reused_in_later_step_begins_reasoning() {
    let step = |word: &str| {
        [
            start_step(),
            json!({"type": "reasoning-delta", "id": "0", "text": word}),
            finish_step("stop"),
        ]
    };
    let received = decode(&[&step("One")[..], &step("Two")[..], &[finish("stop")]].concat());
    assert_eq!(received.kinds(), ["reasoning", "reasoning"]);
    assert_ne!(received.output()[0]["id"], received.output()[1]["id"]);
}
