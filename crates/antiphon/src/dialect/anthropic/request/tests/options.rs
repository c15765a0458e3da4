//! All other fields.

use serde_json::{Value, json};

use super::{Sent, refused, send};
use crate::dialect::anthropic::DEFAULT_MAX_TOKENS;
use crate::item::given::user;

fn ask(fields: &Value) -> Sent {
    send(fields, &[user("hi")])
}

#[test]
fn the_least_request_has_what_anthropic_requires() {
    let sent = ask(&json!({"model": "claude-opus-4-6"}));
    let message = json!({"role": "user", "content": [{"type": "text", "text": "hi"}]});
    let expected = json!({
        "model": "claude-opus-4-6",
        "max_tokens": DEFAULT_MAX_TOKENS,
        "stream": true,
        "messages": [message],
    });
    assert_eq!(sent.body, expected);
}

#[test]
fn what_the_state_owner_decides_and_what_asks_for_nothing_is_not_sent() {
    let sent = ask(&json!({
        "model": "claude-opus-4-6", "store": false, "stream": false, "stream_options": {},
        "conversation": "conv_1", "previous_response_id": null, "background": false,
        "include": ["reasoning.encrypted_content"], "truncation": "disabled", "metadata": {},
        "top_logprobs": 0, "presence_penalty": 0, "frequency_penalty": 0.0, "prompt": null,
        "parallel_tool_calls": true, "reasoning": {"effort": null}, "text": {"format": {"type": "text"}},
        "context_management": [], "system": [], "messages": null,
    }));
    let fields: Vec<&str> = sent.body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["max_tokens", "messages", "model", "stream"]);
    assert_eq!(sent.body["stream"], json!(true));
    assert_eq!(sent.reported, [""; 0]);
}

#[test]
fn the_limit_of_the_answer_goes_under_its_other_name() {
    assert_eq!(ask(&json!({"max_output_tokens": 77})).body["max_tokens"], json!(77));
}

#[test]
fn sampling_goes_as_it_is_where_a_model_takes_it() {
    let sent =
        ask(&json!({"model": "claude-3-5-haiku-20241022", "temperature": 0.3, "top_p": 0.9}));
    assert_eq!(sent.body["temperature"], json!(0.3));
    assert_eq!(sent.body["top_p"], json!(0.9));
    assert_eq!(sent.reported, [""; 0]);
}

#[test]
fn a_temperature_above_one_goes_as_one() {
    let sent = ask(&json!({"model": "claude-opus-4-6", "temperature": 1.7}));
    assert_eq!(sent.body["temperature"], json!(1));
    assert_eq!(sent.reported, ["temperature"]);
}

#[test]
fn a_model_that_takes_one_kind_of_sampling_gets_the_temperature() {
    let sent = ask(&json!({"model": "claude-sonnet-4-5", "temperature": 0.3, "top_p": 0.9}));
    assert_eq!(sent.body["temperature"], json!(0.3));
    assert_eq!(sent.body.get("top_p"), None);
    assert_eq!(sent.reported, ["top_p"]);
}

#[test]
fn a_model_that_refuses_sampling_gets_none() {
    let sent = ask(&json!({"model": "claude-opus-4-8", "temperature": 0.3, "top_p": 0.9}));
    assert_eq!((sent.body.get("temperature"), sent.body.get("top_p")), (None, None));
    assert_eq!(sent.reported, ["temperature", "top_p"]);
    let defaults = ask(&json!({"model": "claude-opus-4-8", "temperature": 1, "top_p": 1.0}));
    assert_eq!(defaults.reported, [""; 0]);
}

#[test]
fn the_users_name_goes_as_metadata() {
    let both = ask(&json!({"safety_identifier": "s", "user": "u"}));
    assert_eq!(both.body["metadata"], json!({"user_id": "s"}));
    assert_eq!(ask(&json!({"user": "u"})).body["metadata"], json!({"user_id": "u"}));
}

#[test]
fn service_tiers_that_anthropic_has_are_asked_for() {
    for (tier, expected) in [("auto", "auto"), ("default", "standard_only")] {
        assert_eq!(ask(&json!({"service_tier": tier})).body["service_tier"], json!(expected));
    }
    for tier in ["flex", "priority", "scale"] {
        let sent = ask(&json!({"service_tier": tier}));
        assert_eq!(sent.body.get("service_tier"), None);
        assert_eq!(sent.reported, ["service_tier"]);
    }
}

#[test]
fn a_schema_for_the_answer_goes_as_its_format() {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let format = json!({"type": "json_schema", "name": "n", "strict": true, "schema": schema});
    let sent = ask(&json!({"text": {"format": format}}));
    let expected = json!({"format": {"type": "json_schema", "schema": schema}});
    assert_eq!(sent.body["output_config"], expected);
}

#[test]
fn a_format_that_anthropic_cannot_promise_is_refused() {
    for format in
        [json!({"type": "json_object"}), json!({"type": "json_schema"}), json!({"type": "lark"})]
    {
        let fields = json!({"text": {"format": format}});
        assert_eq!(refused(&fields, &[user("hi")]).0, "text.format", "{format}");
    }
}

#[test]
fn wishes_that_anthropic_has_nothing_for_are_left_out() {
    for (field, value) in [
        ("top_logprobs", json!(3)),
        ("presence_penalty", json!(0.5)),
        ("frequency_penalty", json!(-0.5)),
        ("truncation", json!("auto")),
        ("max_tool_calls", json!(2)),
        ("metadata", json!({"a": "b"})),
        ("prompt_cache_key", json!("k")),
        ("prompt_cache_retention", json!("24h")),
    ] {
        let sent = ask(&json!({ field: value }));
        assert_eq!(sent.body.get(field), None);
        assert_eq!(sent.reported, [field]);
    }
    let sent =
        ask(&json!({"text": {"verbosity": "low"}, "include": ["message.output_text.logprobs"]}));
    assert_eq!(sent.reported, ["text.verbosity", "include[0]"]);
}

#[test]
fn fields_that_would_change_what_is_asked_are_refused() {
    for (field, value) in [
        ("prompt", json!({"id": "pmpt_1"})),
        ("background", json!(true)),
        ("context_management", json!([{"type": "compaction"}])),
        ("messages", json!([{"role": "user", "content": "hi"}])),
        ("system", json!("Be brief.")),
    ] {
        assert_eq!(refused(&json!({ field: value }), &[user("hi")]).0, field);
    }
}

#[test]
fn fields_that_the_responses_api_does_not_have_pass_as_they_came() {
    let sent = ask(&json!({
        "top_k": 5, "stop_sequences": ["END"], "cache_control": {"type": "ephemeral"},
        "thinking": {"type": "enabled", "budget_tokens": 2000}, "reasoning": {"effort": "low"},
        "temperature": 0.5, "container": null,
    }));
    assert_eq!(sent.body["top_k"], json!(5));
    assert_eq!(sent.body["stop_sequences"], json!(["END"]));
    assert_eq!(sent.body["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(sent.body["thinking"], json!({"type": "enabled", "budget_tokens": 2000}));
    assert_eq!(sent.body.get("container"), None);
    assert_eq!(sent.reported, ["temperature"]);
}
