//! Counts of tokens, models, and errors in Google's form.

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::ApiKey;
use antiphon_mock::Reply;
use antiphon_store::Tenant;
use http::StatusCode;
use serde_json::{Value, json};

use super::{client_of, post, request, user};
use crate::client_apis::world_of;
use crate::support::{MODEL, Mode, SIM, World};

fn count_path(model: &str) -> String {
    format!("/v1beta/models/{model}:countTokens")
}

#[tokio::test]
async fn tokens_are_counted() {
    let world = world_of(UpstreamApi::Responses).await;
    let counted = json!({"object": "response.input_tokens", "input_tokens": 55});
    world.script(Reply::json(StatusCode::OK, &counted));
    let contents = json!([user("Hello there")]);
    let body = json!({"contents": contents});
    let answer = client_of(&world).post(&count_path(MODEL), &body).await;
    assert_eq!(answer.json(), json!({"totalTokens": 55}));
    assert_eq!(answer.header("antiphon-tokens"), Some("upstream"));

    let whole = json!({"generateContentRequest": {"model": "models/other", "contents": contents,
        "systemInstruction": {"parts": [{"text": "Be very brief in all your answers."}]}}});
    let count = async |body: &Value| -> u64 {
        let answer = client_of(&world).post(&count_path(SIM), body).await;
        answer.json()["totalTokens"].as_u64().expect("it is a number")
    };
    let (alone, with_instruction) = (count(&body).await, count(&whole).await);
    assert!(with_instruction > alone + 4, "{alone} {with_instruction}");
}

#[tokio::test]
async fn models_have_the_form_of_google() {
    let world = World::new().await;
    let client = client_of(&world);
    let listed = client.get("/v1beta/models?pageSize=50").await.json();
    let sim = json!({"name": format!("models/{SIM}"), "displayName": SIM,
        "supportedGenerationMethods": ["generateContent", "countTokens"]});
    assert!(listed["models"].as_array().is_some_and(|models| models.contains(&sim)), "{listed}");
    assert_eq!(client.get(&format!("/v1beta/models/{SIM}")).await.json(), sim);
}

#[tokio::test]
async fn errors_have_the_form_of_google() {
    let world = World::new().await;
    let client = client_of(&world);
    let invalid = json!({"model": SIM, "contents": [{"parts": [{"text": 5}]}]});
    let message = "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), 5";
    let body = json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}});
    for mode in [Mode::Whole, Mode::Streamed] {
        let refused = post(&client, mode, &invalid).await.refused();
        assert_eq!((refused.status, refused.body), (400, body.clone()));
    }
    for path in ["/v1beta/models/unknown", "/v1beta/files", "/v1beta"] {
        let refused = client.get(path).await.refused();
        let expected = (404, json!(404), json!("NOT_FOUND"));
        let error = &refused.body["error"];
        assert_eq!((refused.status, error["code"].clone(), error["status"].clone()), expected);
    }
    let path = format!("/v1beta/models/{SIM}:embedContent");
    let refused = client.post(&path, &request(&json!([user("Hello")]))).await.refused();
    assert_eq!((refused.status, &refused.body["error"]["status"]), (404, &json!("NOT_FOUND")));
    let refused = client.post_raw(&format!("/v1beta/models/{SIM}:generateContent"), "[]").await;
    assert_eq!(refused.refused().body["error"]["status"], "INVALID_ARGUMENT");
}

/// Newer SDKs send their requests to `/v1`.
#[tokio::test]
async fn stable_version_has_the_same_routes() {
    let world = World::new().await;
    let client = client_of(&world);
    let path = format!("/v1/models/{SIM}");
    let body = json!({"contents": [user("Hello")]});
    let answer = client.post(&format!("{path}:generateContent"), &body).await.json();
    assert_eq!(answer["candidates"][0]["finishReason"], "STOP");
    let counted = client.post(&format!("{path}:countTokens"), &body).await.json();
    assert!(counted["totalTokens"].is_u64(), "{counted}");
    assert_eq!(client.get(&path).await.json()["name"], format!("models/{SIM}"));
    assert!(client.get("/v1/models").await.json()["models"].is_array());
    let refused = client.get("/v1/models/unknown").await.refused();
    assert_eq!(refused.body["error"]["status"], "NOT_FOUND");
    let refused = client.post(&path, &body).await.refused();
    assert_eq!((refused.status, &refused.body["error"]["code"]), (405, &json!(405)));
    let others = world.client().get(&path).await.json();
    assert_eq!(others["object"], "model");
}

#[tokio::test]
async fn wrong_key_is_unauthenticated() {
    let world = World::with(|settings| {
        settings.api_keys = vec![ApiKey::new("key-of-alice-1234", Tenant::new("alice"))];
    })
    .await;
    let path = format!("/v1beta/models/{SIM}:generateContent");
    let body = request(&json!([user("Hello")]));
    let refused = client_of(&world).post(&path, &body).await.refused();
    assert_eq!(
        (refused.status, &refused.body["error"]["status"]),
        (401, &json!("UNAUTHENTICATED"))
    );
    let keyed = format!("{path}?key=key-of-alice-1234");
    assert_eq!(world.anonymous_client().post(&keyed, &body).await.status(), 200);
}
