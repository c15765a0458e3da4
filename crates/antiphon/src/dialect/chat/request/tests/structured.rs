//! The format of the answer, and the reasoning effort.

use super::*;

#[test]
fn json_schema_is_nested_one_level_deeper() {
    let format = json!({"type": "json_schema", "name": "n", "description": "d", "strict": true,
        "schema": {"type": "object"}});
    let expected = json!({"type": "json_schema", "json_schema": {"name": "n", "description": "d",
        "strict": true, "schema": {"type": "object"}}});
    let body = body(&json!({"model": "m", "text": {"format": format}}));
    assert_eq!(body["response_format"], expected);
}

#[test]
fn schema_without_strict_stays_without_strict() {
    let format = json!({"type": "json_schema", "name": "n", "strict": null, "schema": {}});
    let body = body(&json!({"model": "m", "text": {"format": format}}));
    assert_eq!(body["response_format"]["json_schema"], json!({"name": "n", "schema": {}}));
}

#[test]
fn json_object_is_sent_and_text_is_default() {
    let of = |kind: &str| body(&json!({"model": "m", "text": {"format": {"type": kind}}}));
    assert_eq!(of("json_object")["response_format"], json!({"type": "json_object"}));
    assert_eq!(of("text").get("response_format"), None);
}

#[test]
fn unknown_format_is_rejected() {
    let fields = json!({"model": "m", "text": {"format": {"type": "grammar"}}});
    assert_eq!(refused_field(&fields), "text.format.type");
    assert_eq!(refused_field(&json!({"model": "m", "text": {"format": 7}})), "text.format");
    assert_eq!(refused_field(&json!({"model": "m", "text": "x"})), "text");
}

#[test]
fn verbosity_and_effort_are_top_level_fields() {
    let fields = json!({"model": "m", "text": {"verbosity": "low"}, "reasoning":
        {"effort": "none", "summary": null}});
    let body = body(&fields);
    assert_eq!((&body["verbosity"], &body["reasoning_effort"]), (&json!("low"), &json!("none")));
}

#[test]
fn reasoning_summary_is_left_out() {
    let fields = json!({"model": "m", "reasoning": {"effort": "high", "summary": "auto"}});
    let (body, omitted) = encoded(&fields, &json!([]));
    assert_eq!(body["reasoning_effort"], "high");
    assert_eq!(omitted, ["reasoning.summary"]);
}

#[test]
fn included_logprobs_are_requested() {
    let include = json!(["message.output_text.logprobs", "reasoning.encrypted_content"]);
    let body = body(&json!({"model": "m", "include": include, "top_logprobs": 3}));
    assert_eq!((&body["logprobs"], &body["top_logprobs"]), (&json!(true), &json!(3)));
}

#[test]
fn top_logprobs_turns_logprobs_on() {
    assert_eq!(body(&json!({"model": "m", "top_logprobs": 3}))["logprobs"], true);
    let none = body(&json!({"model": "m", "top_logprobs": 0, "include": null}));
    assert_eq!((none.get("logprobs"), none.get("top_logprobs")), (None, None));
}

#[test]
fn unsupported_include_is_reported() {
    let fields = json!({"model": "m",
        "include": ["reasoning.encrypted_content", "file_search_call.results"]});
    assert_eq!(encoded(&fields, &json!([])).1, ["include[1]"]);
}
