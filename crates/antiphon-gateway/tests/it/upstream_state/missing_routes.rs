//! A provider that stores conversations, but neither counts tokens nor compacts: the gateway does.

use serde_json::{Value, json};

use super::world::World;
use crate::support::{Ask, Client, ask, text, typed_user};

/// Requests with this text that continue a turn in each way.
async fn continuations(client: &Client, said: &str) -> [Ask; 2] {
    let conversation = client.new_conversation().await;
    let told = ask([typed_user("My dog is Rex.")]);
    let within = client.respond(&told.clone().within(&conversation)).await;
    assert!(!within.id().is_empty());
    let first = client.respond(&told).await;
    let next = ask([typed_user(said)]);
    [next.clone().within(&conversation), next.after(first.id())]
}

/// The estimated tokens of a request.
async fn count(client: &Client, asked: &Ask) -> u64 {
    let answer = client.post("/v1/responses/input_tokens", asked.body()).await;
    assert_eq!(answer.header("antiphon-tokens"), Some("estimated"));
    let counted = answer.json();
    assert_eq!(counted["object"], "response.input_tokens");
    counted["input_tokens"].as_u64().expect("it is a number")
}

#[tokio::test]
async fn stored_items_are_counted() {
    let world = World::new().await;
    let client = world.client();
    let alone = count(&client, &ask([typed_user("What is my dog?")])).await;
    for asked in continuations(&client, "What is my dog?").await {
        assert!(count(&client, &asked).await > alone);
    }
}

#[tokio::test]
async fn missing_route_is_requested_once() {
    let world = World::new().await;
    let client = world.client();
    for _ in 0..3 {
        count(&client, &ask([typed_user("What is my dog?")])).await;
    }
    let requests = world.provider.requests();
    let counts = requests.iter().filter(|request| request.path.ends_with("/input_tokens"));
    assert_eq!(counts.count(), 1);
}

#[tokio::test]
async fn missing_object_is_an_error_of_the_provider() {
    let world = World::new().await;
    let client = world.client();
    let question = || ask([typed_user("What is my dog?")]);
    for asked in [question().within("conv_of_nobody"), question().after("resp_of_nobody")] {
        for path in ["/v1/responses/input_tokens", "/v1/responses/compact"] {
            assert_eq!(client.post(path, asked.body()).await.refused().status, 404, "{path}");
        }
    }
}

#[tokio::test]
async fn stored_items_are_compacted_and_the_summary_is_readable() {
    let world = World::new().await;
    let client = world.client();
    for asked in continuations(&client, "Hello.").await {
        let compacted = client.post("/v1/responses/compact", asked.body()).await.json();
        assert_eq!(compacted["object"], "response.compaction");
        let mut input: Vec<Value> = compacted["output"].as_array().expect("a list").clone();
        let sealed = input.last().expect("there is a compaction").clone();
        assert_eq!(sealed["type"], "compaction");

        input.push(typed_user("What is my dog?"));
        let answer = client.respond(&ask(json!(input))).await;

        assert_eq!(answer.text(), "Rex");
        let sent = world.provider.requests().pop().expect("it was asked").body.to_string();
        assert!(!sent.contains(text(&sealed["encrypted_content"])), "{sent}");
        assert!(sent.contains("The conversation so far was compacted"), "{sent}");
    }
}
