//! How many tokens an answer took.

use serde_json::{Value, json};

use super::{decode, finish, text, usage};

fn told(chunks: &[Value]) -> Value {
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
fn usage_comes_after_the_reason_with_no_choices() {
    let reported = json!({
        "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 3}
    });
    let chunks = [text("Hello"), finish("stop"), usage(&reported)];
    assert_eq!(told(&chunks), counts(10, 4, 5, 3, 15));
}

#[test]
fn what_is_not_counted_is_none() {
    let reported = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
    assert_eq!(told(&[finish("stop"), usage(&reported)]), counts(10, 0, 5, 0, 15));
    let nulls =
        json!({"prompt_tokens": 10, "completion_tokens": null, "prompt_tokens_details": null});
    assert_eq!(told(&[finish("stop"), usage(&nulls)]), counts(10, 0, 0, 0, 10));
}

/// SGLang counts reasoning beside the other counts, and sends its details as null.
#[test]
fn reasoning_may_be_counted_without_details() {
    let reported = json!({
        "prompt_tokens": 10, "completion_tokens": 9, "total_tokens": 19,
        "prompt_tokens_details": null, "reasoning_tokens": 6
    });
    assert_eq!(told(&[finish("stop"), usage(&reported)]), counts(10, 0, 9, 6, 19));
}

#[test]
fn of_usage_on_every_chunk_the_last_counts() {
    let with = |mut chunk: Value, output: u64| {
        chunk["usage"] = json!({"prompt_tokens": 10, "completion_tokens": output});
        chunk
    };
    let mut last = finish("stop");
    last["usage"] = json!(null);
    let chunks = [with(text("Hel"), 1), with(text("lo"), 2), last];
    assert_eq!(told(&chunks), counts(10, 0, 2, 0, 12));
}

#[test]
fn usage_that_is_null_or_empty_is_none() {
    for none in [json!(null), json!({}), json!("?")] {
        assert_eq!(told(&[text("Hello"), finish("stop"), usage(&none)]), json!(null));
    }
}

#[test]
fn what_was_written_to_a_cache_is_counted() {
    let reported = json!({
        "prompt_tokens": 10, "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 6},
    });
    let usage = told(&[text("Hello"), finish("stop"), usage(&reported)]);
    let expected = json!({"cached_tokens": 4, "cache_write_tokens": 6});
    assert_eq!(usage["input_tokens_details"], expected);
}

#[test]
fn deepseeks_cached_tokens_are_counted() {
    let reported = json!({
        "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
        "prompt_cache_hit_tokens": 8, "prompt_cache_miss_tokens": 2
    });
    assert_eq!(told(&[finish("stop"), usage(&reported)]), counts(10, 8, 5, 0, 15));
}

#[test]
fn usage_in_the_last_choice_is_heard() {
    let mut last = finish("stop");
    last["choices"][0]["usage"] = json!({"prompt_tokens": 1, "completion_tokens": 2});
    assert_eq!(told(&[text("Hi"), last]), counts(1, 0, 2, 0, 3));
}

#[test]
fn usage_is_told_of_a_failure_too() {
    let reported = json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3});
    assert_eq!(told(&[text("Hi"), finish("abort"), usage(&reported)]), counts(1, 0, 2, 0, 3));
}
