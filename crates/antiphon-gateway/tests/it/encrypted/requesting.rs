//! What the gateway asks the upstream for.

use serde_json::{Value, json};

use crate::support::{MODEL, MODES, PLAIN, World, ask};

const ENCRYPTED: &str = "reasoning.encrypted_content";

#[tokio::test]
async fn encrypted_reasoning_is_always_requested() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let includes =
            [Value::Null, json!([]), json!([ENCRYPTED]), json!(["message.output_text.logprobs"])];
        for include in includes.clone() {
            client.turn(mode, &ask("Hello").field("include", include)).await;
        }
        for (index, include) in includes.iter().enumerate() {
            let request = world.request(index).await;
            let asked = request.body["include"].as_array().unwrap();
            let encrypted = asked.iter().filter(|it| *it == ENCRYPTED);
            assert_eq!(encrypted.count(), 1);
            let own = include.as_array().into_iter().flatten();
            assert!(own.clone().all(|it| asked.contains(it)), "{asked:?}");
        }
    }
}

#[tokio::test]
async fn rejected_include_is_dropped_and_remembered() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |text: &str| ask(text).model(PLAIN).within(&conversation);

        let received = client.turn(mode, &say("My color is purple")).await;

        assert_eq!(received.text(), "Noted.");
        assert_eq!(world.times_asked(), 2);
        assert_eq!(world.upstream.refusals().len(), 1);
        assert_eq!(world.request(1).await.verdict, Ok(()));

        let recalled = client.turn(mode, &say("What is my color?")).await;

        assert_eq!(recalled.text(), "purple");
        assert_eq!(world.times_asked(), 3);
        assert_eq!(world.view(2).await.len(), 3);
        assert_eq!(client.items(&conversation).await.len(), 4);
    }
}

#[tokio::test]
async fn rejected_include_is_remembered_per_model() {
    let world = World::new().await;
    let client = world.client();
    client.respond(&ask("Hello").model(PLAIN)).await;
    client.respond(&ask("Hello").model(MODEL)).await;
    assert_eq!(world.last_request().body["include"], json!([ENCRYPTED]));
    assert_eq!(world.times_asked(), 3);
}
