//! Events of an Anthropic server, in any order.

use serde_json::{Value, json};

use super::Chunk;
use crate::alphabet::{id, one_of, put, text};

const REASONS: [&str; 8] = [
    "end_turn",
    "max_tokens",
    "tool_use",
    "stop_sequence",
    "refusal",
    "pause_turn",
    "model_context_window_exceeded",
    "odd",
];

/// The event for these bytes.
pub(super) fn event([what, which, how, text_id]: Chunk) -> Value {
    let index = which % 4;
    match what % 32 {
        0 => json!({"type": "message_start", "message": message(which, how, text_id)}),
        1..8 => json!({"type": "content_block_start", "index": index,
            "content_block": block(which, how, text_id)}),
        8..18 => {
            json!({"type": "content_block_delta", "index": index, "delta": delta(how, text_id)})
        }
        18..24 => json!({"type": "content_block_stop", "index": index}),
        24 => json!({"type": "message_delta", "usage": usage(how),
            "delta": {"stop_reason": one_of(&REASONS, which), "stop_sequence": text(text_id)}}),
        25 => json!({"type": "message_stop"}),
        26 => json!({"type": "ping"}),
        27 => {
            json!({"type": "error",
                "error": {"type": "overloaded_error", "message": text(text_id)}})
        }
        28 => json!({"error": text(text_id)}),
        29 => message(which, how, text_id),
        30 => odd(how, text_id),
        _ => json!({"type": text(text_id)}),
    }
}

fn block(which: u8, how: u8, text_id: u8) -> Value {
    let said = text(text_id);
    let mut block = match how % 16 {
        0..4 => json!({"type": "text", "text": if text_id < 128 { "" } else { said }}),
        4..6 => json!({"type": "thinking", "thinking": said, "signature": ""}),
        6 => json!({"type": "redacted_thinking", "data": said}),
        7..10 => json!({"type": "tool_use", "name": one_of(&["f", "shell", "look"], which),
            "input": {}}),
        10 => json!({"type": "tool_use", "name": "f", "input": {"city": said}}),
        11 => json!({"type": "server_tool_use", "name": "web_search", "input": {}}),
        12 => json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1",
            "content": [{"type": "web_search_result", "url": said}]}),
        13 => json!({"type": "text", "text": said, "citations": [citation(which, said)]}),
        14 => json!({"type": said}),
        _ => json!({"text": said}),
    };
    if block["type"].as_str().is_some_and(|kind| kind.ends_with("tool_use")) {
        put(&mut block, "id", id("toolu", which.wrapping_mul(5)));
    }
    block
}

fn delta(how: u8, text_id: u8) -> Value {
    let said = text(text_id);
    match how % 16 {
        0..5 => json!({"type": "text_delta", "text": said}),
        5..7 => json!({"type": "thinking_delta", "thinking": said}),
        7 => json!({"type": "signature_delta", "signature": said}),
        8..12 => json!({"type": "input_json_delta", "partial_json": said}),
        12 => json!({"type": "citations_delta", "citation": citation(how >> 4, said)}),
        13 => json!({"type": "text_delta", "text": 7}),
        14 => json!({"type": said, "text": said}),
        _ => json!(said),
    }
}

fn citation(which: u8, said: &str) -> Value {
    match which % 3 {
        0 => json!({"type": "web_search_result_location", "url": said, "title": null,
            "cited_text": said, "encrypted_index": "E"}),
        1 => json!({"type": "char_location", "document_index": 0, "document_title": said,
            "start_char_index": 0, "end_char_index": 7, "cited_text": said}),
        _ => json!({"type": said}),
    }
}

fn usage(how: u8) -> Value {
    match how % 4 {
        0 => json!({"output_tokens": how}),
        1 => json!({"input_tokens": 3, "cache_read_input_tokens": 4,
            "cache_creation_input_tokens": 1, "output_tokens": 2}),
        2 => json!({"input_tokens": u64::MAX, "cache_read_input_tokens": u64::MAX,
            "output_tokens": -1}),
        _ => json!(null),
    }
}

/// A message in `message_start`. Some contain their content already.
fn message(which: u8, how: u8, text_id: u8) -> Value {
    let content: Vec<Value> =
        (0..how % 3).map(|at| block(which.wrapping_add(at), how >> 2, text_id)).collect();
    json!({"type": "message", "id": "msg_up", "role": "assistant", "model": "claude-up",
        "content": content, "stop_reason": if how < 128 { json!(null) } else { json!("end_turn") },
        "stop_sequence": null, "usage": usage(how >> 4)})
}

/// Input that is not an event.
fn odd(how: u8, text_id: u8) -> Value {
    let said = text(text_id);
    match how % 8 {
        0 => json!({"type": "content_block_start", "content_block": said}),
        1 => json!({"type": "content_block_delta", "index": "1", "delta": null}),
        2 => json!({"type": "message_start", "message": {"content": said, "usage": []}}),
        3 => json!({"type": "message_delta"}),
        4 => json!([said]),
        5 => json!({"type": "content_block_delta", "index": u64::MAX,
            "delta": {"type": "text_delta", "text": said}}),
        6 => "[DONE]".into(),
        _ => format!("{{\"type\":{said}").into(),
    }
}
