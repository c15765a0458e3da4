//! `POST /v1/responses/compact`.

use antiphon_mock::{Options, StrictProvider};
use serde_json::{Value, json};

use crate::client::{Client, id};

const PATH: &str = "/v1/responses/compact";

async fn compacting() -> StrictProvider {
    StrictProvider::with_options(Options { compacts: true, ..Options::default() }).start().await
}

#[tokio::test]
async fn chain_becomes_its_user_messages_and_a_compaction() {
    let provider = compacting().await;
    let client = Client::connect_to(&provider);
    let first = client.turn(json!({"model": "plain-1", "input": "My color is purple"})).await;

    let body = json!({"model": "plain-1", "previous_response_id": id(&first), "input": "And now?"});
    let (status, compacted) = client.post(PATH, body).await;

    assert_eq!((status, &compacted["object"]), (200, &json!("response.compaction")));
    let output = compacted["output"].as_array().expect("a list");
    let texts: Vec<&Value> = output.iter().map(|item| &item["content"][0]["text"]).collect();
    assert_eq!(texts, [&json!("My color is purple"), &json!("And now?"), &Value::Null]);
    assert_eq!(output[2]["type"], "compaction");
    let input: Vec<Value> = [&output[..], &[json!({"role": "user", "content": "Which?"})]].concat();
    client.turn(json!({"model": "plain-1", "input": input})).await;
    assert_eq!(provider.refusals(), []);
    let (status, _) = client.refused(json!({"model": "think-1", "input": input})).await;
    assert_eq!(status, 400, "another model cannot read it");
}

#[tokio::test]
async fn compaction_needs_a_model_and_an_input() {
    let provider = compacting().await;
    let client = Client::connect_to(&provider);
    assert_eq!(client.post(PATH, json!({"input": "Hi"})).await.0, 400);
    assert_eq!(client.post(PATH, json!({"model": "plain-1"})).await.0, 400);
}

#[tokio::test]
async fn route_does_not_exist_by_default() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    assert_eq!(client.post(PATH, json!({"model": "plain-1", "input": "Hi"})).await.0, 404);
}
