//! The order in which a request is checked: the provider's.

use serde_json::{Value, json};

use crate::support::{Client, Refused, World, ask, invalid, not_found};

const NOTHING_TO_SAY: &str = "One of \"input\" or \"previous_response_id\" or 'prompt' or \
    'conversation' must be provided.";
const UNKNOWN: &str = "conv_0123456789abcdef0123456789abcdef0123456789abcdef";

async fn refused(client: &Client, body: Value) -> Refused {
    client.post("/v1/responses", &body).await.refused()
}

fn missing_model() -> Refused {
    let code = Some("missing_required_parameter");
    invalid(Some("model"), code, "Missing required parameter: 'model'.")
}

fn missing_input() -> Refused {
    invalid(None, Some("missing_required_parameter"), NOTHING_TO_SAY)
}

fn unknown_conversation() -> Refused {
    let message = format!("Conversation with id '{UNKNOWN}' not found.");
    not_found(None, &message)
}

fn code(refused: &Refused) -> (&Value, &Value) {
    let error = &refused.body["error"];
    (&error["code"], &error["param"])
}

#[tokio::test]
async fn model_and_input_are_required() {
    let world = World::new().await;
    let client = world.client();
    for body in [json!({"input": "Hello"}), json!({"model": null, "input": "Hello"})] {
        assert_eq!(refused(&client, body).await, missing_model());
    }
    for body in [
        json!({"model": "fake-model"}),
        json!({"model": "fake-model", "input": null}),
        json!({"model": "fake-model", "input": []}),
    ] {
        assert_eq!(refused(&client, body).await, missing_input());
    }
}

#[tokio::test]
async fn missing_model_is_reported_before_missing_input() {
    let world = World::new().await;
    let client = world.client();
    assert_eq!(refused(&client, json!({})).await, missing_model());
    let body = json!({"stream": "yes", "conversation": UNKNOWN});
    assert_eq!(refused(&client, body).await, missing_model());
}

#[tokio::test]
async fn missing_input_is_reported_before_wrong_types() {
    let world = World::new().await;
    let body = json!({"model": "fake-model", "stream": "yes", "metadata": 5});
    assert_eq!(refused(&world.client(), body).await, missing_input());
}

#[tokio::test]
async fn wrong_types_are_reported_before_lookups() {
    let world = World::new().await;
    let client = world.client();
    let wrong = [
        ("store", json!("yes")),
        ("metadata", json!([])),
        ("tools", json!({})),
        ("input", json!(5)),
    ];
    for (field, value) in wrong {
        let ask = ask("Hello").within(UNKNOWN).field(field, value);
        let refused = refused(&client, ask.body().clone()).await;
        assert_eq!(code(&refused), (&json!("invalid_type"), &json!(field)));
    }
}

#[tokio::test]
async fn bounds_are_reported_before_lookups() {
    let world = World::new().await;
    let client = world.client();
    let beyond = [
        ("temperature", json!(3), "temperature", "decimal_above_max_value"),
        ("include", json!(["thoughts"]), "include[0]", "invalid_value"),
        ("tool_choice", json!("perhaps"), "tool_choice", "invalid_value"),
        ("text", json!({"format": {}}), "text.format.type", "missing_required_parameter"),
        ("input", json!([{"role": "user"}]), "input[0].content", "missing_required_parameter"),
    ];
    for (field, value, param, because) in beyond {
        let ask = ask("Hello").within(UNKNOWN).field(field, value);
        let refused = refused(&client, ask.body().clone()).await;
        assert_eq!(code(&refused), (&json!(because), &json!(param)));
    }
}

#[tokio::test]
async fn lookups_are_reported_before_an_empty_input() {
    let world = World::new().await;
    let client = world.client();
    let ask = ask(json!([])).within(UNKNOWN);
    assert_eq!(refused(&client, ask.body().clone()).await, unknown_conversation());

    let conversation = client.new_conversation().await;
    let empty = ask.within(&conversation);
    assert_eq!(refused(&client, empty.body().clone()).await, missing_input());
    assert_eq!(refused(&client, empty.model("sim").body().clone()).await, missing_input());
}

#[tokio::test]
async fn empty_input_continues_stored_state() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.add_items(&conversation, &[json!({"role": "user", "content": "Hello"})]).await;

    let turn = client.respond(&ask(json!([])).within(&conversation)).await;

    assert_eq!(turn.text(), "Noted.");
    assert_eq!(world.view(0).await, ["user: Hello"]);
}
