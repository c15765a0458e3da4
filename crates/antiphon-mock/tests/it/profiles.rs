//! Providers other than OpenAI, and lenient servers.

use antiphon_mock::{Options, Profile, Rules, StrictProvider};
use serde_json::json;

use crate::client::{Client, id, output, text, user};

async fn start(profile: Profile) -> StrictProvider {
    StrictProvider::with_options(Options { profile, ..Options::default() }).start().await
}

#[tokio::test]
async fn azure_refuses_conversations_in_its_own_form() {
    let provider = start(Profile::Azure).await;
    let client = Client::connect_to(&provider);
    let expected = json!({"error": {"code": "404", "message": "Resource not found"}});
    assert_eq!(client.post("/v1/conversations", json!({})).await, (404, expected.clone()));
    assert_eq!(client.get("/v1/conversations/conv_x/items").await, (404, expected));
}

#[tokio::test]
async fn azure_serves_chains_and_ignores_unknown_fields() {
    let provider = start(Profile::Azure).await;
    let client = Client::connect_to(&provider);
    let first = client.turn(json!({"input": "My color is red", "zzz": 1})).await;
    let asked = json!({"previous_response_id": id(&first), "input": "Which color?"});
    assert_eq!(text(&client.turn(asked).await), "red");
    let path = format!("/v1/responses/{}/input_items", id(&first));
    assert_eq!(client.get(&path).await.0, 200);
}

#[tokio::test]
async fn azure_serves_the_paths_of_its_clients() {
    let provider = start(Profile::Azure).await;
    let client = Client::connect_to(&provider);
    let body = json!({"model": "m", "input": "Hello"});
    for path in [
        "/openai/v1/responses",
        "/api/projects/pets/openai/v1/responses",
        "/openai/responses?api-version=2025-04-01-preview",
    ] {
        assert_eq!(client.post(path, body.clone()).await.0, 200, "{path}");
    }
    let unknown = json!({"error": {"code": "404", "message": "Resource not found"}});
    assert_eq!(client.post("/openai/responses", body.clone()).await, (404, unknown));

    let provider = start(Profile::OpenAi).await;
    let client = Client::connect_to(&provider);
    assert_eq!(client.post("/openai/v1/responses", body).await.0, 404);
}

#[tokio::test]
async fn open_responses_server_serves_chains_only() {
    let provider = start(Profile::ChainsOnly).await;
    let client = Client::connect_to(&provider);
    assert_eq!(client.post("/v1/conversations", json!({})).await.0, 404);
    let first = client.turn(json!({"input": "My color is red"})).await;
    let path = format!("/v1/responses/{}", id(&first));
    assert_eq!(client.get(&format!("{path}/input_items")).await.0, 404);
    assert_eq!(client.get(&path).await, (200, first.clone()));
    let asked = json!({"previous_response_id": id(&first), "input": "Which color?"});
    assert_eq!(text(&client.turn(asked).await), "red");
}

#[tokio::test]
async fn every_profile_enforces_chain_rules() {
    for profile in [Profile::OpenAi, Profile::Azure, Profile::ChainsOnly] {
        let provider = start(profile).await;
        let client = Client::connect_to(&provider);
        let lone = json!({"model": "m", "input": [output("call_1", "x")]});
        assert_eq!(client.refused(lone).await.0, 400, "{profile:?}");
        let unknown = json!({"model": "m", "previous_response_id": "resp_x", "input": "Hi"});
        let (_, error) = client.refused(unknown).await;
        assert_eq!(error["code"], "previous_response_not_found", "{profile:?}");
    }
}

#[tokio::test]
async fn lenient_server_accepts_duplicates_and_unpaired_items() {
    let options = Options { rules: Rules::Lenient, ..Options::default() };
    let provider = StrictProvider::with_options(options).start().await;
    let client = Client::with_token(&provider, "");
    let conversation = client.conversation().await;
    let said = json!({"type": "message", "id": "msg_1", "role": "user", "content": "Hello"});
    client.turn(json!({"conversation": conversation, "input": [said]})).await;
    let all = json!([
        said,
        {"type": "reasoning", "id": "rs_unknown", "summary": []},
        {"type": "function_call", "call_id": "call_1", "name": "echo", "arguments": "{}"},
        user("Hello again"),
    ]);
    client.turn(json!({"conversation": conversation, "input": all, "zzz": 1})).await;

    let given = provider.turns()[1].model_input.clone().unwrap();
    assert_eq!(given.len(), 5, "the unknown reference is left out");
    assert!(!provider.duplicates().is_empty());
    assert!(provider.refusals().is_empty());
}

#[tokio::test]
async fn lenient_server_refuses_items_that_are_not_objects() {
    let options = Options { rules: Rules::Lenient, ..Options::default() };
    let provider = StrictProvider::with_options(options).start().await;
    let client = Client::connect_to(&provider);
    let (status, error) = client.refused(json!({"model": "m", "input": [1]})).await;
    assert_eq!((status, &error["param"]), (400, &json!("input[0]")));
}

#[tokio::test]
async fn lenient_server_refuses_unknown_conversation() {
    let options = Options { rules: Rules::Lenient, ..Options::default() };
    let provider = StrictProvider::with_options(options).start().await;
    let client = Client::connect_to(&provider);
    let asked = json!({"model": "m", "conversation": "conv_x", "input": "Hello"});
    assert_eq!(client.refused(asked).await.0, 404);
}
