//! Every refusal of state and of parameters, with the provider's exact body.

use antiphon_mock::StrictProvider;
use serde_json::{Value, json};

use crate::client::{Client, echo, id, output, user};

fn error(param: Option<&str>, code: Option<&str>, message: &str) -> Value {
    json!({
        "type": "invalid_request_error", "param": param, "code": code, "message": message,
    })
}

fn input_refusal(message: &str) -> Value {
    error(Some("input"), None, message)
}

fn fields(more: Value) -> Value {
    let mut body = json!({"model": "fake-model", "input": "Hello"});
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    body
}

/// Creates a conversation whose last item is a call. Returns its id and the call.
async fn conversation_with_a_call(client: &Client) -> (String, Value) {
    let conversation = client.conversation().await;
    let asked = json!({"conversation": conversation, "input": "Echo hello", "tools": echo()});
    let response = client.turn(asked).await;
    (conversation, response["output"][1].clone())
}

#[tokio::test]
async fn duplicate_of_a_conversation_item_is_refused() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let (conversation, call) = conversation_with_a_call(&client).await;
    let again = fields(json!({"conversation": conversation, "input": [call]}));
    let message = format!(
        "Duplicate item found with id {}. Remove duplicate items from your input and try again.",
        id(&call)
    );
    assert_eq!(client.refused(again).await, (400, input_refusal(&message)));
}

#[tokio::test]
async fn duplicate_of_a_chain_item_is_refused() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let first = client.turn(json!({"input": "Hello"})).await;
    let message = &first["output"][0];
    let again = fields(json!({"previous_response_id": id(&first), "input": [message]}));
    let (status, error) = client.refused(again).await;
    assert_eq!(status, 400);
    assert!(error["message"].as_str().unwrap().starts_with("Duplicate item found with id msg_"));
}

#[tokio::test]
async fn call_without_output_is_refused() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let (conversation, call) = conversation_with_a_call(&client).await;
    let next = fields(json!({"conversation": conversation}));
    let call_id = call["call_id"].as_str().unwrap();
    let message = format!("No tool output found for function call {call_id}.");
    assert_eq!(client.refused(next).await, (400, input_refusal(&message)));
    assert_eq!(client.items(&conversation).await.len(), 3, "the refusal changed nothing");
}

#[tokio::test]
async fn output_without_call_is_refused() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    let lone = fields(json!({"conversation": conversation, "input": [output("call_xxx", "x")]}));
    let message = "No tool call found for function call output with call_id call_xxx.";
    assert_eq!(client.refused(lone).await, (400, input_refusal(message)));
}

#[tokio::test]
async fn second_output_for_one_call_is_refused() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let (conversation, call) = conversation_with_a_call(&client).await;
    let call_id = call["call_id"].as_str().unwrap();
    let answer = json!({"conversation": conversation, "input": [output(call_id, "hello")]});
    client.turn(answer.clone()).await;
    let message = format!(
        "Duplicate function call output found with call_id {call_id}. Remove duplicate items from \
        your input and try again."
    );
    assert_eq!(client.refused(fields(answer)).await, (400, input_refusal(&message)));
}

#[tokio::test]
async fn reasoning_without_following_item_is_refused() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let response = client.turn(json!({"input": "Echo hello", "tools": echo()})).await;
    let reasoning = id(&response["output"][0]);
    let lone = fields(json!({"input": [{"type": "item_reference", "id": reasoning}, user("Hi")]}));
    let message = format!(
        "Item '{reasoning}' of type 'reasoning' was provided without its required following item."
    );
    assert_eq!(client.refused(lone).await, (400, input_refusal(&message)));
}

#[tokio::test]
async fn item_without_its_reasoning_is_refused() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let response = client.turn(json!({"input": "Echo hello", "tools": echo()})).await;
    let [reasoning, call] = [&response["output"][0], &response["output"][1]];
    let call_id = call["call_id"].as_str().unwrap();
    let bare = fields(json!({"input": [user("Echo hello"), call, output(call_id, "hello")]}));
    let message = format!(
        "Item '{}' of type 'function_call' was provided without its required 'reasoning' item: \
        '{}'.",
        id(call),
        id(reasoning)
    );
    assert_eq!(client.refused(bare).await, (400, input_refusal(&message)));
}

#[tokio::test]
async fn reference_to_unstored_item_is_refused() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let message = "Item with id 'rs_xxx' not found. Items are not persisted when `store` is set to \
        false. Try again with `store` set to true, or remove this item from your input.";
    for item in [
        json!({"type": "reasoning", "id": "rs_xxx", "summary": []}),
        json!({"type": "item_reference", "id": "rs_xxx"}),
    ] {
        let unknown = fields(json!({"input": [item, user("Hi")]}));
        assert_eq!(client.refused(unknown).await, (404, input_refusal(message)));
    }
}

#[tokio::test]
async fn unknown_previous_response() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let expected = error(
        Some("previous_response_id"),
        Some("previous_response_not_found"),
        "Previous response with id 'resp_x' not found.",
    );
    let unknown = fields(json!({"previous_response_id": "resp_x"}));
    assert_eq!(client.refused(unknown).await, (400, expected));

    let unstored = client.turn(json!({"input": "Hello", "store": false})).await;
    let (status, error) =
        client.refused(fields(json!({"previous_response_id": id(&unstored)}))).await;
    assert_eq!((status, &error["code"]), (400, &json!("previous_response_not_found")));
    assert_eq!(client.get("/v1/responses/resp_x").await.0, 404);
}

#[tokio::test]
async fn unknown_conversation() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let expected = error(None, None, "Conversation with id 'conv_x' not found.");
    let unknown = fields(json!({"conversation": "conv_x"}));
    assert_eq!(client.refused(unknown).await, (404, expected.clone()));
    let (status, body) = client.get("/v1/conversations/conv_x").await;
    assert_eq!((status, &body["error"]), (404, &expected));
}

#[tokio::test]
async fn conversation_together_with_previous_response() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let both = fields(json!({"conversation": "conv_x", "previous_response_id": "resp_x"}));
    let expected = error(
        None,
        Some("mutually_exclusive_parameters"),
        "Mutually exclusive parameters: ''. Ensure you are only providing one of: \
        'previous_response_id' or 'conversation'.",
    );
    assert_eq!(client.refused(both).await, (400, expected));
}

#[tokio::test]
async fn missing_input() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let expected = error(
        None,
        Some("missing_required_parameter"),
        "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be \
        provided.",
    );
    assert_eq!(client.refused(json!({"model": "m"})).await, (400, expected.clone()));
    assert_eq!(client.refused(json!({"model": "m", "input": []})).await, (400, expected));
}

#[tokio::test]
async fn unknown_model() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let missing = error(
        Some("model"),
        Some("missing_required_parameter"),
        "Missing required parameter: 'model'.",
    );
    assert_eq!(client.refused(json!({})).await, (400, missing));
    let unknown = error(
        Some("model"),
        Some("model_not_found"),
        "The requested model 'unknown-x' does not exist.",
    );
    let asked = json!({"model": "unknown-x", "input": "Hello"});
    assert_eq!(client.refused(asked).await, (400, unknown));
}

#[tokio::test]
async fn unknown_parameter() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let expected = error(Some("zzz"), Some("unknown_parameter"), "Unknown parameter: 'zzz'.");
    assert_eq!(client.refused(fields(json!({"zzz": 1}))).await, (400, expected));
}

#[tokio::test]
async fn encrypted_content_without_reasoning_model() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let include = json!(["reasoning.encrypted_content"]);
    let asked = fields(json!({"model": "plain-model", "include": include}));
    let message = "Encrypted content is not supported with this model.";
    assert_eq!(client.refused(asked).await, (400, error(Some("include"), None, message)));
}

#[tokio::test]
async fn cancel_after_completion() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let response = client.turn(json!({"input": "Hello"})).await;
    let path = format!("/v1/responses/{}/cancel", id(&response));
    let (status, body) = client.post(&path, json!({})).await;
    let expected = error(None, None, "Cannot cancel a synchronous response.");
    assert_eq!((status, &body["error"]), (400, &expected));
    assert_eq!(client.post("/v1/responses/resp_x/cancel", json!({})).await.0, 404);
}

#[tokio::test]
async fn several_errors_are_reported_in_provider_order() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let mut body = json!({
        "conversation": "conv_x", "metadata": 1, "zzz": 1, "previous_response_id": "resp_x",
    });
    let mut steps = Vec::new();
    for repair in ["model", "zzz", "metadata", "previous_response_id"] {
        let (_, error) = client.refused(body.clone()).await;
        steps.push(error["message"].as_str().unwrap().to_owned());
        match repair {
            "model" => body["model"] = "fake-model".into(),
            name => drop(body.as_object_mut().unwrap().remove(name)),
        }
    }
    steps.push(client.refused(body).await.1["message"].as_str().unwrap().to_owned());
    let expected = ["Missing required", "Unknown parameter", "Invalid type", "Mutually", "Conver"];
    for (step, start) in steps.iter().zip(expected) {
        assert!(step.starts_with(start), "{step}");
    }
}
