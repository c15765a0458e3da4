//! `POST /v1/responses/input_tokens`

use antiphon::dialect::UpstreamApi;
use antiphon_mock::{Answer, Reply};
use http::StatusCode;
use serde_json::{Value, json};

use super::{three_turns, world_of};
use crate::support::{Client, MODEL, World, ask, echo_tool, invalid, lines, not_found, user};

const PATH: &str = "/v1/responses/input_tokens";

async fn count(client: &Client, body: &Value) -> (u64, Option<String>) {
    let answer = client.post(PATH, body).await;
    let counted = answer.json();
    assert_eq!(counted["object"], "response.input_tokens");
    assert_eq!(counted.as_object().map(serde_json::Map::len), Some(2), "{counted}");
    let whose = answer.header("antiphon-tokens").map(str::to_owned);
    (counted["input_tokens"].as_u64().expect("it is a number"), whose)
}

async fn estimate(client: &Client, body: &Value) -> u64 {
    let (tokens, whose) = count(client, body).await;
    assert_eq!(whose.as_deref(), Some("estimated"));
    tokens
}

fn counts(tokens: u64) -> Reply {
    let body = json!({"object": "response.input_tokens", "input_tokens": tokens});
    Reply::json(StatusCode::OK, &body)
}

#[tokio::test]
async fn counting_upstream_gets_the_full_input() {
    let world = World::new().await;
    let client = world.client();
    let conversation = three_turns(&client).await;
    world.script(counts(321));

    let body = json!({
        "model": MODEL, "conversation": conversation, "input": "And now?", "tools": [echo_tool()],
        "instructions": "Be brief.", "stream": true, "store": true,
    });
    assert_eq!(count(&client, &body).await, (321, Some("upstream".into())));

    let asked = world.last_request();
    assert_eq!(asked.path, PATH);
    assert_eq!(lines(&asked.items()).len(), 7);
    assert_eq!(asked.body["instructions"], "Be brief.");
    for field in ["conversation", "previous_response_id", "stream", "store", "include"] {
        assert_eq!(asked.body.get(field), None, "{field} is none of its parameters");
    }
}

#[tokio::test]
async fn counted_input_is_not_stored() {
    let world = World::new().await;
    let client = world.client();
    let conversation = three_turns(&client).await;
    let held = client.items(&conversation).await;
    let body = json!({"model": MODEL, "conversation": conversation, "input": "And now?"});
    let first = estimate(&client, &body).await;
    assert_eq!(estimate(&client, &body).await, first);
    assert_eq!(client.items(&conversation).await, held);
}

#[tokio::test]
async fn missing_counting_route_is_remembered() {
    let nowhere = json!({"error": {"message": "Invalid URL", "type": "invalid_request_error"}});
    for status in [404, 405, 501] {
        let world = World::new().await;
        world.script(Reply::json(StatusCode::from_u16(status).unwrap(), &nowhere));
        let body = json!({"model": MODEL, "input": "Hello there"});
        assert_eq!(estimate(&world.client(), &body).await, 9);
        assert_eq!(estimate(&world.client(), &body).await, 9);
        assert_eq!(world.times_asked(), 1);
    }
}

#[tokio::test]
async fn rejection_of_a_count_passes() {
    let world = World::new().await;
    let error = json!({"error": {
        "message": "The model `m` does not exist.", "type": "invalid_request_error",
        "param": "model", "code": "model_not_found",
    }});
    world.script(Reply::json(StatusCode::NOT_FOUND, &error));
    let refused = world.client().post(PATH, &json!({"model": "m", "input": "Hi"})).await.refused();
    assert_eq!((refused.status, refused.body), (404, error));
}

#[tokio::test]
async fn anthropic_server_counts_its_tokens() {
    let world = world_of(UpstreamApi::Anthropic).await;
    world.script(Reply::json(StatusCode::OK, &json!({"input_tokens": 77})));
    let body = json!({
        "model": MODEL, "input": [user("Hello")], "instructions": "Be brief.",
        "tools": [echo_tool()],
    });
    assert_eq!(count(&world.client(), &body).await, (77, Some("upstream".into())));

    let asked = world.last_request();
    assert_eq!(asked.path, "/v1/messages/count_tokens");
    let fields = asked.body.as_object().unwrap().keys();
    let mut fields: Vec<&str> = fields.map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["messages", "model", "system", "tools"]);
}

#[tokio::test]
async fn tokens_are_estimated_without_a_counting_server() {
    let world = world_of(UpstreamApi::Chat).await;
    let client = world.client();
    for model in [MODEL, "sim"] {
        let body = json!({"model": model, "input": [user("Hello there")]});
        assert_eq!(estimate(&client, &body).await, 9);
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn estimate_counts_only_model_input() {
    let world = world_of(UpstreamApi::Chat).await;
    let client = world.client();
    let body = |more: Value| {
        let mut body = json!({"model": MODEL, "input": [user("Hello there")]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let bare = estimate(&client, &body(json!({}))).await;
    assert!(estimate(&client, &body(json!({"tools": [echo_tool()]}))).await > bare + 10);
    assert!(estimate(&client, &body(json!({"instructions": "Be brief."}))).await > bare);
    assert_eq!(estimate(&client, &body(json!({"metadata": {"a": "b"}}))).await, bare);

    let image = format!("data:image/png;base64,{}", "A".repeat(400_000));
    let image = json!([{"role": "user", "content": [{"type": "input_image", "image_url": image}]}]);
    let counted = estimate(&client, &json!({"model": MODEL, "input": image})).await;
    assert!((85..2000).contains(&counted), "{counted}");
}

#[tokio::test]
async fn count_needs_no_model() {
    let world = World::new().await;
    assert_eq!(estimate(&world.client(), &json!({"input": "Hello there"})).await, 9);
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn count_includes_stored_items() {
    let world = world_of(UpstreamApi::Chat).await;
    let client = world.client();
    world.script(Reply::sse(Answer::new(MODEL).message("Fine.").chat().frames()));
    let turn = client.respond(&ask("How are you today?")).await;
    let alone = estimate(&client, &json!({"model": MODEL, "input": "Good."})).await;
    let body = json!({"model": MODEL, "input": "Good.", "previous_response_id": turn.id()});
    assert!(estimate(&client, &body).await >= alone + 8);
}

#[tokio::test]
async fn count_rejects_invalid_requests() {
    let world = World::new().await;
    let client = world.client();
    let refused = async |body: Value| client.post(PATH, &body).await.refused();
    assert_eq!(refused(json!({"model": MODEL})).await.status, 400);
    assert_eq!(
        refused(json!({"model": MODEL, "input": 7})).await,
        invalid(
            Some("input"),
            Some("invalid_type"),
            "Invalid type for 'input': expected a string or an array of objects, but got an \
             integer instead."
        )
    );
    assert_eq!(
        refused(json!({"model": MODEL, "conversation": "conv_x", "input": "Hi"})).await,
        not_found(None, "Conversation with id 'conv_x' not found.")
    );
    let both = json!({"model": MODEL, "conversation": "c", "previous_response_id": "r"});
    assert_eq!(refused(both).await.body["error"]["code"], "mutually_exclusive_parameters");
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn conversation_of_another_tenant_is_not_counted() {
    let world = World::new().await;
    let conversation = three_turns(&world.client()).await;
    let body = json!({"model": MODEL, "conversation": conversation, "input": "Hi"});
    let refused = world.caller("token-of-bob").post(PATH, &body).await.refused();
    let message = format!("Conversation with id '{conversation}' not found.");
    assert_eq!(refused, not_found(None, &message));
}
