//! Chunks of a Chat Completions server, including almost correct ones.

use serde_json::{Value, json};

use super::Chunk;
use crate::alphabet::{id, one_of, put, text};

const REASONS: [&str; 8] =
    ["stop", "length", "tool_calls", "content_filter", "function_call", "error", "abort", ""];

/// The chunk for these bytes.
pub(super) fn chunk([what, which, how, text_id]: Chunk) -> Value {
    let said = text(text_id);
    let delta = match what % 32 {
        0..4 => json!({"content": said}),
        4 => json!({"content": parts(which, said)}),
        5 => json!({"refusal": said}),
        6..8 => json!({"reasoning_content": said}),
        8 => json!({"reasoning": said, "reasoning_details": details(which, said)}),
        9 => json!({"reasoning_content": said, "content": text(which)}),
        10..18 => json!({"tool_calls": [call(which, how, text_id)]}),
        18..20 => {
            json!({"tool_calls": [call(which, how, text_id), call(how, which, text_id)]})
        }
        20 => json!({"function_call": {"name": name(how), "arguments": said}}),
        21 => json!({"annotations": [{"type": "url_citation",
            "url_citation": {"url": said, "title": said, "start_index": which,
                "end_index": how}}]}),
        22 => json!({"role": "assistant", "content": null, "audio": {"data": said}}),
        23..26 => return ended(which, how, text_id),
        26 => return json!({"model": "m-1", "choices": [], "usage": usage(how)}),
        27 => return json!({"error": error(how, said)}),
        28 => return "[DONE]".into(),
        29 => return json!({"choices": [whole(which, how, text_id)]}),
        30 => return odd(how, said),
        _ => json!({}),
    };
    json!({"model": "m-1", "choices": [{"index": u8::from(how >= 248), "delta": delta}]})
}

/// A piece of a call. Some servers omit its index or its id, or repeat them.
fn call(which: u8, how: u8, text_id: u8) -> Value {
    let mut call = json!({"function": {"arguments": text(text_id)}});
    match how % 8 {
        0 => call["function"] = json!({"arguments": {"city": text(text_id)}}),
        1 => call["function"] = json!({"name": name(which), "arguments": null}),
        2..6 => call["function"]["name"] = name(which).into(),
        6 => call = json!({"type": "custom", "custom": {"name": "shell", "input": text(text_id)}}),
        _ => {}
    }
    match how >> 5 {
        0..5 => call["index"] = (which % 3).into(),
        5 => call["index"] = json!(null),
        _ => {}
    }
    put(&mut call, "id", id("call", which.wrapping_mul(5)).filter(|_| how & 8 == 0));
    call
}

fn name(byte: u8) -> &'static str {
    one_of(&["f", "g", "shell", "", "f", "look", "f.g", "f"], byte)
}

fn parts(which: u8, said: &str) -> Value {
    let kind = one_of(&["text", "refusal", "output_text", "image_url"], which);
    json!([{"type": kind, "text": said, "refusal": said}, 7])
}

fn details(which: u8, said: &str) -> Value {
    match which % 4 {
        0 => json!([{"type": "reasoning.text", "text": said, "index": 0}]),
        1 => json!([{"type": "reasoning.encrypted", "data": said, "id": "rd_1"}]),
        2 => json!([{"type": "reasoning.text", "signature": said, "index": 0}, {"index": 1}]),
        _ => json!({"type": said}),
    }
}

fn ended(which: u8, how: u8, text_id: u8) -> Value {
    let mut choice = json!({"index": 0, "delta": {},
        "finish_reason": one_of(&REASONS, which)});
    if how & 1 == 1 {
        choice["delta"] = json!({"content": text(text_id)});
    }
    if how & 6 == 6 {
        choice["usage"] = usage(text_id);
    }
    json!({"model": "m-1", "choices": [choice]})
}

/// A choice with a whole message. Some servers send it at the end, others in place of deltas.
fn whole(which: u8, how: u8, text_id: u8) -> Value {
    let mut message = json!({"role": "assistant", "content": text(text_id)});
    if how & 1 == 1 {
        message["tool_calls"] = json!([call(which, how, text_id)]);
    }
    json!({"message": message, "finish_reason": one_of(&REASONS, how)})
}

fn usage(how: u8) -> Value {
    match how % 4 {
        0 => json!({"prompt_tokens": how, "completion_tokens": 1, "total_tokens": 2}),
        1 => json!({"prompt_tokens": 3, "completion_tokens": 4,
            "completion_tokens_details": {"reasoning_tokens": 9}}),
        2 => json!({"prompt_tokens": -1, "completion_tokens": 1.5, "total_tokens": u64::MAX}),
        _ => json!(null),
    }
}

fn error(how: u8, said: &str) -> Value {
    match how % 4 {
        0 => json!({"message": said, "code": 500}),
        1 => json!({"message": "Oh.", "code": "server_error", "type": said}),
        2 => json!(said),
        _ => json!(null),
    }
}

/// Input that is not a chunk.
fn odd(how: u8, said: &str) -> Value {
    match how % 8 {
        0 => json!({"choices": said}),
        1 => json!({"choices": [7, null, {"delta": said}]}),
        2 => json!({"choices": [{"delta": {"tool_calls": [null, said, {}]}}]}),
        3 => json!({"choices": [{"delta": {"content": 7, "refusal": {}, "reasoning": []}}]}),
        4 => json!({"model": said, "service_tier": 7}),
        5 => json!([said]),
        6 => json!({"choices": [{"delta": null, "logprobs": {"content": [{"token": said}]}}]}),
        _ => format!("{{\"choices\":{said}").into(),
    }
}
