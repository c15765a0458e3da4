//! Token counts.

use serde_json::{Value, json};

use super::{decode, finish, text, usage};

fn receive(chunks: &[Value]) -> Value {
    decode(chunks).last()["response"]["usage"].clone()
}

fn counts(input: u64, cached: u64, output: u64, reasoning: u64, total: u64) -> Value {
    json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": output, "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": total
    })
}

#[test]
fn usage_chunk_after_reason_is_decoded() {
    let reported = json!({
        "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 3}
    });
    let chunks = [text("Hello"), finish("stop"), usage(&reported)];
    assert_eq!(receive(&chunks), counts(10, 4, 5, 3, 15));
}

#[test]
fn missing_details_count_as_zero() {
    let reported = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
    assert_eq!(receive(&[finish("stop"), usage(&reported)]), counts(10, 0, 5, 0, 15));
    let nulls =
        json!({"prompt_tokens": 10, "completion_tokens": null, "prompt_tokens_details": null});
    assert_eq!(receive(&[finish("stop"), usage(&nulls)]), counts(10, 0, 0, 0, 10));
}

/// SGLang has its own field for reasoning tokens, and sends null details.
#[test]
fn reasoning_count_outside_details_is_decoded() {
    let reported = json!({
        "prompt_tokens": 10, "completion_tokens": 9, "total_tokens": 19,
        "prompt_tokens_details": null, "reasoning_tokens": 6
    });
    assert_eq!(receive(&[finish("stop"), usage(&reported)]), counts(10, 0, 9, 6, 19));
}

#[test]
fn last_usage_wins() {
    let with = |mut chunk: Value, output: u64| {
        chunk["usage"] = json!({"prompt_tokens": 10, "completion_tokens": output});
        chunk
    };
    let mut last = finish("stop");
    last["usage"] = json!(null);
    let chunks = [with(text("Hel"), 1), with(text("lo"), 2), last];
    assert_eq!(receive(&chunks), counts(10, 0, 2, 0, 12));
}

#[test]
fn null_or_empty_usage_is_none() {
    for none in [json!(null), json!({}), json!("?")] {
        assert_eq!(receive(&[text("Hello"), finish("stop"), usage(&none)]), json!(null));
    }
}

#[test]
fn cache_writes_are_counted() {
    let reported = json!({
        "prompt_tokens": 10, "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 6},
    });
    let usage = receive(&[text("Hello"), finish("stop"), usage(&reported)]);
    let expected = json!({"cached_tokens": 4, "cache_write_tokens": 6});
    assert_eq!(usage["input_tokens_details"], expected);
}

#[test]
fn deepseek_cached_tokens_are_counted() {
    let reported = json!({
        "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
        "prompt_cache_hit_tokens": 8, "prompt_cache_miss_tokens": 2
    });
    assert_eq!(receive(&[finish("stop"), usage(&reported)]), counts(10, 8, 5, 0, 15));
}

#[test]
fn usage_in_last_choice_is_decoded() {
    let mut last = finish("stop");
    last["choices"][0]["usage"] = json!({"prompt_tokens": 1, "completion_tokens": 2});
    assert_eq!(receive(&[text("Hi"), last]), counts(1, 0, 2, 0, 3));
}

#[test]
fn failed_response_has_usage() {
    let reported = json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3});
    assert_eq!(receive(&[text("Hi"), finish("abort"), usage(&reported)]), counts(1, 0, 2, 0, 3));
}
