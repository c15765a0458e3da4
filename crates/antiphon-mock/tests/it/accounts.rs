//! Accounts cannot see each other's objects.

use antiphon_mock::StrictProvider;
use serde_json::json;

use crate::client::{Client, id};

#[tokio::test]
async fn objects_belong_to_one_account() {
    let provider = StrictProvider::start().await;
    let (one, two) = (Client::connect_to(&provider), Client::with_token(&provider, "sk-two"));
    let conversation = one.conversation().await;
    let response = one.turn(json!({"conversation": conversation, "input": "Hello"})).await;
    let item = id(&response["output"][0]).to_owned();

    let base = format!("/v1/conversations/{conversation}");
    for path in [
        base.clone(),
        format!("{base}/items"),
        format!("{base}/items/{item}"),
        format!("/v1/responses/{}", id(&response)),
        format!("/v1/responses/{}/input_items", id(&response)),
    ] {
        assert_eq!(one.get(&path).await.0, 200, "{path}");
        assert_eq!(two.get(&path).await.0, 404, "{path}");
    }
    for fields in [
        json!({"conversation": conversation, "input": "Hello"}),
        json!({"previous_response_id": id(&response), "input": "Hello"}),
        json!({"input": [{"type": "item_reference", "id": item}]}),
    ] {
        let mut body = fields;
        body["model"] = "fake-model".into();
        assert!(matches!(two.refused(body.clone()).await.0, 400 | 404), "{body}");
    }
    assert_eq!(two.delete(&base).await.0, 404);
    assert_eq!(one.get(&base).await.0, 200);
}

#[tokio::test]
async fn missing_or_wrong_key_is_refused() {
    let provider = StrictProvider::start().await;
    let wrong = Client::with_token(&provider, "sk-wrong-key-1234");
    let (status, body) = wrong.post("/v1/conversations", json!({})).await;
    assert_eq!(status, 401);
    assert_eq!(
        body["error"],
        json!({
            "type": "invalid_request_error", "param": null, "code": "invalid_api_key",
            "message": "Incorrect API key provided: sk-...1234. You can find your API key at \
                https://platform.openai.com/account/api-keys.",
        })
    );
    assert_eq!(Client::with_token(&provider, "").get("/v1/models").await.0, 401);
}
