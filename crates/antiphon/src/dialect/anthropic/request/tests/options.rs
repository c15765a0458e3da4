//! All other fields.

use serde_json::{Value, json};

use super::{Sent, refused, send};
use crate::dialect::anthropic::DEFAULT_MAX_TOKENS;
use crate::item::given::user;

fn ask(fields: &Value) -> Sent {
    send(fields, &[user("hi")])
}

#[test]
fn minimal_request_has_required_fields() {
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
fn state_fields_and_defaults_are_not_sent() {
    let sent = ask(&json!({
        "model": "claude-opus-4-6", "store": false, "stream": false, "stream_options": {},
        "conversation": "conv_1", "previous_response_id": null, "background": false,
        "include": ["reasoning.encrypted_content"], "truncation": "disabled", "metadata": {},
        "top_logprobs": 0, "presence_penalty": 0, "frequency_penalty": 0.0, "prompt": null,
        "parallel_tool_calls": true, "reasoning": {"effort": null},
        "text": {"format": {"type": "text"}},
        "context_management": [], "system": [], "messages": null,
    }));
    let fields: Vec<&str> = sent.body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["max_tokens", "messages", "model", "stream"]);
    assert_eq!(sent.body["stream"], json!(true));
    assert_eq!(sent.reported, [""; 0]);
}

#[test]
fn max_output_tokens_becomes_max_tokens() {
    assert_eq!(ask(&json!({"max_output_tokens": 77})).body["max_tokens"], json!(77));
}

#[test]
fn supported_sampling_is_sent_unchanged() {
    let sent =
        ask(&json!({"model": "claude-3-5-haiku-20241022", "temperature": 0.3, "top_p": 0.9}));
    assert_eq!(sent.body["temperature"], json!(0.3));
    assert_eq!(sent.body["top_p"], json!(0.9));
    assert_eq!(sent.reported, [""; 0]);
}

#[test]
fn temperature_above_one_is_sent_as_one() {
    let sent = ask(&json!({"model": "claude-opus-4-6", "temperature": 1.7}));
    assert_eq!(sent.body["temperature"], json!(1));
    assert_eq!(sent.reported, ["temperature"]);
}

#[test]
fn model_with_one_sampling_parameter_gets_temperature() {
    let sent = ask(&json!({"model": "claude-sonnet-4-5", "temperature": 0.3, "top_p": 0.9}));
    assert_eq!(sent.body["temperature"], json!(0.3));
    assert_eq!(sent.body.get("top_p"), None);
    assert_eq!(sent.reported, ["top_p"]);
}

#[test]
fn model_without_sampling_gets_none() {
    let sent = ask(&json!({"model": "claude-opus-4-8", "temperature": 0.3, "top_p": 0.9}));
    assert_eq!((sent.body.get("temperature"), sent.body.get("top_p")), (None, None));
    assert_eq!(sent.reported, ["temperature", "top_p"]);
    let defaults = ask(&json!({"model": "claude-opus-4-8", "temperature": 1, "top_p": 1.0}));
    assert_eq!(defaults.reported, [""; 0]);
}

#[test]
fn user_id_is_sent_as_metadata() {
    let both = ask(&json!({"safety_identifier": "s", "user": "u"}));
    assert_eq!(both.body["metadata"], json!({"user_id": "s"}));
    assert_eq!(ask(&json!({"user": "u"})).body["metadata"], json!({"user_id": "u"}));
}

#[test]
fn supported_service_tiers_are_sent() {
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
fn json_schema_is_sent_as_output_format() {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let format = json!({"type": "json_schema", "name": "n", "strict": true, "schema": schema});
    let sent = ask(&json!({"text": {"format": format}}));
    let expected = json!({"format": {"type": "json_schema", "schema": schema}});
    assert_eq!(sent.body["output_config"], expected);
}

#[test]
fn unsupported_format_is_rejected() {
    for format in
        [json!({"type": "json_object"}), json!({"type": "json_schema"}), json!({"type": "lark"})]
    {
        let fields = json!({"text": {"format": format}});
        assert_eq!(refused(&fields, &[user("hi")]).0, "text.format", "{format}");
    }
}

#[test]
fn optional_fields_without_counterpart_are_left_out() {
    for (field, value) in [
        ("top_logprobs", json!(3)),
        ("presence_penalty", json!(0.5)),
        ("frequency_penalty", json!(-0.5)),
        ("truncation", json!("auto")),
        ("max_tool_calls", json!(2)),
        ("metadata", json!({"a": "b"})),
        ("client_metadata", json!({"thread_id": "t"})),
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
fn essential_fields_without_counterpart_are_rejected() {
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
fn unknown_fields_are_sent_unchanged() {
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
