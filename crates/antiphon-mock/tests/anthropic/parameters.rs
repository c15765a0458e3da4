//! Headers and parameters.

use antiphon_mock::judge::anthropic::validate;
use http::HeaderValue;
use serde_json::{Value, json};

use crate::request::{accepted, expect, headers, hello, refused, text, with, without};

#[test]
fn key_and_version_headers_are_required() {
    let mut bearer = headers();
    bearer.remove("x-api-key");
    bearer.insert("authorization", HeaderValue::from_static("Bearer key-1"));
    bearer.insert("anthropic-version", HeaderValue::from_static("2026-10-21"));
    assert_eq!(validate(&bearer, &hello()), Ok(()));
    let mut anonymous = headers();
    anonymous.remove("x-api-key");
    let refusal = validate(&anonymous, &hello()).expect_err("it has no key");
    expect(&refusal, 401, "authentication_error", "x-api-key header is required");

    let mut timeless = headers();
    timeless.remove("anthropic-version");
    let refusal = validate(&timeless, &hello()).expect_err("it has no version");
    expect(&refusal, 400, "invalid_request_error", "anthropic-version: header is required");
    timeless.insert("anthropic-version", HeaderValue::from_static("2099-01-01"));
    let refusal = validate(&timeless, &hello()).expect_err("it has no such version");
    let message = "anthropic-version: \"2099-01-01\" is not a valid version";
    expect(&refusal, 400, "invalid_request_error", message);
}

#[test]
fn model_max_tokens_and_messages_are_required() {
    for field in ["model", "max_tokens", "messages"] {
        refused(&without(hello(), field), &format!("{field}: Field required"));
    }
    let message = "max_tokens: Input should be greater than or equal to 1";
    refused(&with(hello(), "max_tokens", json!(0)), message);
    let message = "max_tokens: Input should be a valid integer";
    refused(&with(hello(), "max_tokens", Value::Null), message);
}

#[test]
fn unknown_fields_are_refused() {
    for field in ["input", "instructions", "store", "max_output_tokens", "parallel_tool_calls"] {
        let message = format!("{field}: Extra inputs are not permitted");
        refused(&with(hello(), field, Value::Null), &message);
    }
    let message = "metadata.acme: Extra inputs are not permitted";
    refused(&with(hello(), "metadata", json!({"acme": "x"})), message);
    accepted(&with(hello(), "metadata", json!({"user_id": "u"})));
}

#[test]
fn blank_system_prompt_is_refused() {
    accepted(&with(hello(), "system", json!("Be kind.")));
    accepted(&with(hello(), "system", json!([text("Be kind.")])));
    let message = "system: text content blocks must be non-empty";
    refused(&with(hello(), "system", json!([text("")])), message);
    let message = "system: text content blocks must contain non-whitespace text";
    refused(&with(hello(), "system", json!([text(" \n")])), message);
}

#[test]
fn sampling_parameters_are_bounded_and_exclusive() {
    accepted(&with(hello(), "temperature", json!(1)));
    refused(&with(hello(), "temperature", json!(1.5)), "temperature: range: 0..1");
    refused(&with(hello(), "top_p", json!(-0.5)), "top_p: range: 0..1");
    let both = with(with(hello(), "temperature", json!(0.5)), "top_p", json!(0.5));
    let message = "`temperature` and `top_p` cannot both be specified for this model. Please use \
        only one.";
    refused(&both, message);
}

#[test]
fn blank_stop_sequence_is_refused() {
    accepted(&with(hello(), "stop_sequences", json!(["END"])));
    let message = "stop_sequences: each stop sequence must contain non-whitespace";
    refused(&with(hello(), "stop_sequences", json!(["END", "\n"])), message);
}
