//! Refusals of malformed fields, with the provider's exact body.

use antiphon_mock::StrictProvider;
use serde_json::{Value, json};

use crate::client::{Client, user};

async fn refusal(body: Value) -> (u16, Value) {
    let provider = StrictProvider::start().await;
    Client::connect_to(&provider).refused(body).await
}

fn error(param: &str, code: &str, message: &str) -> (u16, Value) {
    let kind = "invalid_request_error";
    (400, json!({"type": kind, "param": param, "code": code, "message": message}))
}

fn with(name: &str, value: Value) -> Value {
    let mut body = json!({"model": "fake-model", "input": "Hello"});
    body[name] = value;
    body
}

#[tokio::test]
async fn invalid_json() {
    let provider = StrictProvider::start().await;
    let (status, body) = Client::connect_to(&provider).post_bytes("/v1/responses", "{").await;
    let message = "We could not parse the JSON body of your request. (HINT: This likely means you \
        aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what \
        was sent was not valid JSON. If you have trouble figuring out how to fix this, please \
        contact us through our help center at help.openai.com.)";
    let expected = json!({
        "type": "invalid_request_error", "param": null, "code": null, "message": message,
    });
    assert_eq!((status, &body["error"]), (400, &expected));
}

#[tokio::test]
async fn too_much_metadata() {
    let pairs: Value = (0..17).map(|key| (key.to_string(), json!("x"))).collect();
    let expected = error(
        "metadata",
        "object_above_max_properties",
        "Invalid 'metadata': too many properties. Expected an object with at most 16 properties, \
        but got an object with 17 properties instead.",
    );
    assert_eq!(refusal(with("metadata", pairs)).await, expected);
    let long = json!({"key": "x".repeat(513)});
    assert_eq!(refusal(with("metadata", long)).await.1["param"], "metadata.key");
}

#[tokio::test]
async fn too_many_tools() {
    let tools = json!(vec![json!({"type": "function", "name": "x"}); 217]);
    let expected = error(
        "tools",
        "array_above_max_length",
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an \
        array with length 217 instead.",
    );
    assert_eq!(refusal(with("tools", tools)).await, expected);
}

#[tokio::test]
async fn empty_call_id() {
    let call = json!({"type": "function_call", "call_id": "", "name": "x", "arguments": "{}"});
    let expected = error(
        "input[1].call_id",
        "empty_string",
        "Invalid 'input[1].call_id': empty string. Expected a string with minimum length 1, but \
        got an empty string instead.",
    );
    assert_eq!(refusal(with("input", json!([user("Hi"), call]))).await, expected);
}

#[tokio::test]
async fn too_long_id() {
    let id = format!("msg_{}", "x".repeat(412));
    let said = json!({"type": "message", "id": id, "role": "user", "content": "Hi"});
    let expected = error(
        "input[2].id",
        "string_above_max_length",
        "Invalid 'input[2].id': string too long. Expected a string with maximum length 64, but got \
        a string with length 416 instead.",
    );
    assert_eq!(refusal(with("input", json!([user("1"), user("2"), said]))).await, expected);
}

#[tokio::test]
async fn id_with_wrong_prefix() {
    let said = json!({"type": "message", "id": "item_abc", "role": "user", "content": "Hi"});
    let expected = error(
        "input[0].id",
        "invalid_value",
        "Invalid 'input[0].id': 'item_abc'. Expected an ID that begins with 'msg'.",
    );
    assert_eq!(refusal(with("input", json!([said]))).await, expected);
    for (name, prefix) in [("conversation", "conv"), ("previous_response_id", "resp")] {
        let (status, error) = refusal(with(name, json!("item_abc"))).await;
        let message =
            format!("Invalid '{name}': 'item_abc'. Expected an ID that begins with '{prefix}'.");
        assert_eq!((status, &error["message"]), (400, &json!(message)));
    }
}

#[tokio::test]
async fn value_of_wrong_type() {
    for (name, value) in [
        ("store", json!("yes")),
        ("stream", json!(1)),
        ("input", json!(1)),
        ("tools", json!({})),
        ("metadata", json!([])),
        ("conversation", json!(1)),
        ("max_output_tokens", json!("16")),
        ("temperature", json!("hot")),
    ] {
        let (status, error) = refusal(with(name, value)).await;
        assert_eq!((status, &error["param"]), (400, &json!(name)));
        assert_eq!(error["code"], "invalid_type", "{name}");
    }
}

#[tokio::test]
async fn reference_without_id() {
    let (status, error) = refusal(with("input", json!([{"type": "item_reference"}]))).await;
    assert_eq!((status, &error["param"]), (400, &json!("input[0].id")));
}

#[tokio::test]
async fn nulls_count_as_absent() {
    let provider = StrictProvider::start().await;
    let said = json!({"role": "user", "content": "Hello", "status": null, "id": null});
    let asked = json!({
        "input": [said], "include": [], "tools": null, "metadata": null, "store": null,
        "conversation": null, "previous_response_id": null, "max_output_tokens": null,
    });
    Client::connect_to(&provider).turn(asked).await;
}

#[tokio::test]
async fn unknown_value_of_include() {
    let asked = with("include", json!(["message.output_text.logprobs", "thoughts"]));
    let (status, error) = refusal(asked).await;
    assert_eq!((status, &error["param"]), (400, &json!("include[1]")));
    assert_eq!(error["code"], "invalid_value");
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("Invalid value: 'thoughts'. Supported values are: 'file_search"));
}

#[tokio::test]
async fn too_few_output_tokens() {
    let (status, error) = refusal(with("max_output_tokens", json!(15))).await;
    assert_eq!((status, &error["code"]), (400, &json!("integer_below_min_value")));
}
