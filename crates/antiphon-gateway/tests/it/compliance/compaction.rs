//! `POST /v1/responses/compact`, as the specification's acceptance tests ask for it.

use serde_json::{Value, json};

use crate::support::{SIM, World, only};

fn history() -> Value {
    json!([
        {"type": "message", "role": "user",
            "content": "We launch on Friday and tell the press first."},
        {"type": "message", "role": "assistant", "content": "The launch is on Friday."},
    ])
}

#[tokio::test]
async fn compaction_returns_items_of_the_specified_shape() {
    let world = World::new().await;
    let asked = json!({"model": SIM, "prompt_cache_key": "a-key", "input": history()});

    let compacted = world.client().post("/v1/responses/compact", &asked).await.json();

    assert_eq!(compacted["object"], "response.compaction");
    assert!(compacted["id"].is_string() && compacted["created_at"].is_u64(), "{compacted}");
    assert!(compacted["usage"]["total_tokens"].is_u64(), "{compacted}");
    let output = compacted["output"].as_array().unwrap();
    assert_eq!(output[0]["role"], "user");
    assert!(only(output, "compaction")["encrypted_content"].is_string());
    for item in output {
        for key in ["id", "type", "status"] {
            assert!(item[key].is_string(), "{key} of {item}");
        }
    }
}

#[tokio::test]
async fn compaction_requires_a_model() {
    let world = World::new().await;
    let asked = json!({"input": history()});
    let refused = world.client().post("/v1/responses/compact", &asked).await.refused();
    assert_eq!(refused.status, 400);
    assert_eq!(refused.body["error"]["param"], "model");
}
