//! Stream parts of the AI SDK, from a model or a `fullStream`, in any order.

use serde_json::{Value, json};

use super::Chunk;
use crate::alphabet::{id, one_of, put, text};

const REASONS: [&str; 8] =
    ["stop", "length", "content-filter", "tool-calls", "error", "other", "unknown", "interrupted"];

/// The part for these bytes.
pub(super) fn part([what, which, how, text_id]: Chunk) -> Value {
    let said = text(text_id);
    let mut part = match what % 32 {
        0 => json!({"type": one_of(&["start", "start-step", "stream-start"], how)}),
        1 => json!({"type": "response-metadata", "id": "resp_up", "modelId": said}),
        2 => json!({"type": "text-start"}),
        3..6 => json!({"type": "text-delta", field(how): said}),
        6 => json!({"type": "text-end"}),
        7 => json!({"type": "reasoning-start"}),
        8..10 => json!({"type": "reasoning-delta", field(how): said}),
        10 => json!({"type": "reasoning-end"}),
        11..13 => json!({"type": "tool-input-start", "toolName": name(how)}),
        13..16 => json!({"type": "tool-input-delta", field(how): said}),
        16 => json!({"type": "tool-input-end"}),
        17..20 => json!({"type": "tool-call", "toolName": name(how), "input": input(how, said)}),
        20 => json!({"type": "tool-result", "toolName": name(how), "output": said, "input": said}),
        21 => json!({"type": "tool-result", "toolName": name(how), "result": {"sky": said}}),
        22 => json!({"type": "tool-error", "toolName": name(how), "error": said}),
        23 => json!({"type": "tool-output-denied", "toolName": name(how)}),
        24 => json!({"type": "source", "sourceType": "url", "url": said, "title": said}),
        25 => json!({"type": "file", "file": {"mediaType": "image/png", "base64Data": said}}),
        26 => json!({"type": "tool-approval-request", "approvalId": said}),
        27 => json!({"type": "finish-step", "finishReason": reason(which), "usage": usage(how),
            "response": {"modelId": said}}),
        28 => json!({"type": "finish", "finishReason": reason(which), "usage": usage(how),
            "totalUsage": usage(how >> 2)}),
        29 => ending(how, said),
        30 => return odd(how, said),
        _ => json!({"type": said}),
    };
    identify(&mut part, which, how);
    if how >= 192 {
        part["providerMetadata"] = metadata(how, said);
    }
    part
}

/// A call's parts have its id in `id` while the input streams, and in `toolCallId` at the end.
fn identify(part: &mut Value, which: u8, how: u8) {
    let kind = part["type"].as_str().unwrap_or_default().to_owned();
    match kind.as_str() {
        "tool-call" | "tool-result" | "tool-error" | "tool-output-denied" => {
            put(part, "toolCallId", id("call", which));
        }
        "tool-input-start" | "tool-input-delta" | "tool-input-end" => {
            put(part, "id", id("call", which));
        }
        _ => put(part, "id", id("txt", which)),
    }
    if how & 0x30 == 0x30 {
        part["providerExecuted"] = true.into();
    }
}

fn field(how: u8) -> &'static str {
    one_of(&["delta", "text", "inputTextDelta", "delta"], how)
}

fn name(how: u8) -> &'static str {
    one_of(&["f", "shell", "web_search", ""], how)
}

fn input(how: u8, said: &str) -> Value {
    match how >> 5 {
        0..3 => json!(said),
        3 => json!({"city": said}),
        4 => json!({"input": said}).to_string().into(),
        5 => json!(said).to_string().into(),
        6 => json!(2.0),
        _ => json!(null),
    }
}

fn reason(which: u8) -> Value {
    let reason = one_of(&REASONS, which);
    if which < 128 { json!(reason) } else { json!({"unified": reason, "raw": "end"}) }
}

fn usage(how: u8) -> Value {
    match how % 4 {
        0 => json!({"inputTokens": 3, "outputTokens": how, "totalTokens": 9}),
        1 => json!({"inputTokens": {"total": 4, "cacheRead": 2},
            "outputTokens": {"total": u64::MAX, "reasoning": 1}}),
        2 => json!({"inputTokens": null, "outputTokens": -1}),
        _ => json!(null),
    }
}

fn metadata(how: u8, said: &str) -> Value {
    match how % 8 {
        0 => json!({"openai": {"itemId": said, "reasoningEncryptedContent": said}}),
        1 => json!({"openai": {"itemId": "rs_1", "reasoningEncryptedContent": null}}),
        2 => json!({"anthropic": {"signature": said}}),
        3 => json!({"anthropic": {"redactedData": said}}),
        4 => json!({"google": {"thoughtSignature": said}}),
        5 => json!({"openai": said}),
        _ => json!({}),
    }
}

fn ending(how: u8, said: &str) -> Value {
    match how % 4 {
        0 => json!({"type": "abort", "reason": said}),
        1 => json!({"type": "error", "error": {"error": {"message": said, "code": 7}}}),
        2 => json!({"type": "error", "error": said}),
        _ => json!({"type": "error"}),
    }
}

/// Input that is not a part.
fn odd(how: u8, said: &str) -> Value {
    match how % 4 {
        0 => json!([said]),
        1 => "[DONE]".into(),
        2 => json!({"type": 7, "id": {}}),
        _ => format!("{{\"type\":{said}").into(),
    }
}
