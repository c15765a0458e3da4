//! Counts of tokens, and models.

use antiphon::dialect::UpstreamApi;
use antiphon_mock::Reply;
use http::StatusCode;
use serde_json::{Value, json};

use super::{client_of, text, user};
use crate::client_apis::{UPSTREAMS, world_of};
use crate::support::{MODEL, SIM, World, ids, list};

const PATH: &str = "/v1/messages/count_tokens";

fn counted(messages: &Value) -> Value {
    json!({"model": MODEL, "messages": messages, "system": "Be brief."})
}

#[tokio::test]
async fn anthropic_upstream_counts_by_itself() {
    let world = world_of(UpstreamApi::Anthropic).await;
    for (messages, is_unchanged) in
        [(json!([user("Hello")]), true), (json!([user(json!([text("Hello"), text("")]))]), false)]
    {
        world.script(Reply::json(StatusCode::OK, &json!({"input_tokens": 77})));
        let body = counted(&messages);
        let answer = client_of(&world).post(PATH, &body).await;
        assert_eq!(answer.json(), json!({"input_tokens": 77}));
        let sent = world.last_request();
        assert_eq!(sent.path, PATH);
        assert_eq!(sent.body == body, is_unchanged);
    }
}

#[tokio::test]
async fn other_upstreams_are_asked_or_the_count_is_estimated() {
    let world = world_of(UpstreamApi::Responses).await;
    let answer = json!({"object": "response.input_tokens", "input_tokens": 55});
    world.script(Reply::json(StatusCode::OK, &answer));
    let answer = client_of(&world).post(PATH, &counted(&json!([user("Hello")]))).await;
    assert_eq!(answer.json(), json!({"input_tokens": 55}));
    assert_eq!(answer.header("antiphon-tokens"), Some("upstream"));

    let world = world_of(UpstreamApi::Chat).await;
    for model in [MODEL, SIM] {
        let mut body = counted(&json!([user("Hello there")]));
        body["model"] = model.into();
        let answer = client_of(&world).post(PATH, &body).await;
        assert!(answer.json()["input_tokens"].as_u64().is_some_and(|tokens| tokens > 5));
        assert_eq!(answer.header("antiphon-tokens"), Some("estimated"));
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn conversation_is_counted() {
    let world = world_of(UpstreamApi::Chat).await;
    let client = client_of(&world);
    let conversation = client.new_conversation().await;
    let body = counted(&json!([user("Hello")]));
    let alone = client.post(PATH, &body).await.json();
    client.add_items(&conversation, &[crate::support::user(&"word ".repeat(100))]).await;
    let named = client.with_header("antiphon-conversation", &conversation);
    let within = named.post(PATH, &body).await.json();
    let tokens = |count: &Value| count["input_tokens"].as_u64().expect("it is a number");
    assert!(tokens(&within) > tokens(&alone) + 50, "{within} {alone}");
}

#[tokio::test]
async fn models_have_anthropics_form() {
    for (api, _) in UPSTREAMS {
        let world = world_of(api).await;
        let listed = client_of(&world).get("/v1/models").await.json();
        let models = list(&listed["data"]);
        assert!(ids(models).contains(&SIM));
        for model in models {
            assert_eq!(model["type"], "model");
            assert!(model["display_name"].is_string() && model["created_at"].is_string());
            assert_eq!(model.get("object"), None);
        }
        assert_eq!(listed["has_more"], false);
        assert_eq!(listed["first_id"], models[0]["id"]);
        assert_eq!(listed["last_id"], models[models.len() - 1]["id"]);

        let model = client_of(&world).get(&format!("/v1/models/{MODEL}")).await.json();
        assert_eq!((&model["type"], &model["id"]), (&json!("model"), &json!(MODEL)));
        let model = world.client().get(&format!("/v1/models/{MODEL}")).await.json();
        assert_eq!(model["object"], "model");
    }
}

#[tokio::test]
async fn built_in_model_is_counted_without_an_upstream() {
    let world = World::with(|settings| settings.upstreams.clear()).await;
    let body = json!({"model": SIM, "messages": [user("Hello there")]});
    let answer = client_of(&world).post(PATH, &body).await;
    assert!(answer.json()["input_tokens"].is_u64());
}
