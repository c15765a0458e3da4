//! The required fields of a request.

use antiphon_mock::judge::validate;
use serde_json::{Value, json};

use crate::request::{refused, replay, user, with, without};

#[test]
fn model_and_input_are_required() {
    let body = replay(&json!("hi"));
    let missing = Some("missing_required_parameter");
    let no_model = "Missing required parameter: 'model'.";
    let no_input = "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' \
        must be provided.";
    refused(&without(body.clone(), "model"), (400, Some("model"), missing, no_model));
    refused(&without(body.clone(), "input"), (400, None, missing, no_input));
    refused(&with(body.clone(), "input", json!([])), (400, None, missing, no_input));
    refused(&without(without(body, "input"), "model"), (400, Some("model"), missing, no_model));
}

#[test]
fn wrong_field_type_is_refused() {
    let body = replay(&json!("hi"));
    let wrong = Some("invalid_type");
    let model = "Invalid type for 'model': expected a string, but got an integer instead.";
    let input = "Invalid type for 'input': expected a string or an array of objects, but got a \
        boolean instead.";
    let item = "Invalid type for 'input[1]': expected an object, but got a string instead.";
    let id = "Invalid type for 'input[0].id': expected a string, but got an integer instead.";
    refused(&with(body.clone(), "model", json!(1)), (400, Some("model"), wrong, model));
    refused(&with(body, "input", json!(true)), (400, Some("input"), wrong, input));
    refused(&replay(&json!([user("hi"), "hi"])), (400, Some("input[1]"), wrong, item));
    let numbered = json!([{"role": "user", "content": "hi", "id": 1}]);
    refused(&replay(&numbered), (400, Some("input[0].id"), wrong, id));
}

#[test]
fn store_must_be_false() {
    let message = "This upstream keeps no state: 'store' must be false.";
    for body in [
        without(replay(&json!("hi")), "store"),
        with(replay(&json!("hi")), "store", json!(true)),
        with(replay(&json!("hi")), "store", Value::Null),
    ] {
        refused(&body, (400, Some("store"), None, message));
    }
}

#[test]
fn references_to_provider_state_are_refused() {
    for (param, value) in [
        ("conversation", json!("conv_1")),
        ("conversation", json!({"id": "conv_1"})),
        ("previous_response_id", json!("resp_1")),
    ] {
        let message = format!("This upstream keeps no state: '{param}' must be left out.");
        let body = with(replay(&json!("hi")), param, value);
        refused(&body, (400, Some(param), None, &message));
    }
}

#[test]
fn encrypted_reasoning_is_required_for_reasoning_models() {
    let absent = "This upstream keeps no state: 'include' must contain \
        'reasoning.encrypted_content'.";
    for include in [Value::Null, json!([]), json!(["message.output_text.logprobs"])] {
        let body = with(replay(&json!("hi")), "include", include);
        refused(&body, (400, Some("include"), None, absent));
    }
    let unsupported = "Encrypted content is not supported with this model.";
    let plain = with(replay(&json!("hi")), "model", json!("plain-model"));
    refused(&plain, (400, Some("include"), None, unsupported));
    assert_eq!(validate(&without(plain.clone(), "include")), Ok(()));
    assert_eq!(validate(&with(plain, "include", json!([]))), Ok(()));
}
