//! The header that names the conversation of a request of the Responses API.

use serde_json::json;

use crate::support::{Client, MODES, World, ask, invalid, lines, user};
use crate::upstream_state::world::World as UpstreamWorld;

const HEADER: &str = "antiphon-conversation";

async fn named(client: &Client) -> (String, Client) {
    let conversation = client.new_conversation().await;
    let named = client.clone().with_header(HEADER, &conversation);
    (conversation, named)
}

#[tokio::test]
async fn header_continues_the_conversation() {
    for mode in MODES {
        let world = World::new().await;
        let (conversation, client) = named(&world.client()).await;
        client.turn(mode, &ask("My color is purple")).await;
        let recalled = client.turn(mode, &ask("What is my color?").within(&conversation)).await;

        assert_eq!(recalled.response["conversation"]["id"], conversation.as_str());
        let expected = [
            "user: My color is purple",
            "assistant: Noted.",
            "user: What is my color?",
            "assistant: purple",
        ];
        assert_eq!(lines(&world.client().items(&conversation).await), expected);
    }
}

#[tokio::test]
async fn background_response_runs_in_the_named_conversation() {
    let world = World::new().await;
    let (conversation, client) = named(&world.client()).await;
    let queued = client.post("/v1/responses", ask("Hello").field("background", true).body()).await;
    let id = queued.json()["id"].as_str().expect("it has an id").to_owned();
    client.wait_until_ended(&id).await;
    assert_eq!(lines(&client.items(&conversation).await)[0], "user: Hello");
}

#[tokio::test]
async fn tokens_of_the_named_conversation_are_counted() {
    let world = World::new().await;
    let (conversation, client) = named(&world.client()).await;
    client.respond(&ask("My color is purple")).await;
    let path = "/v1/responses/input_tokens";
    let in_body = ask("Hello").within(&conversation);
    let expected = world.client().post(path, in_body.body()).await.json();
    assert_eq!(client.post(path, ask("Hello").body()).await.json(), expected);
    assert_ne!(world.client().post(path, ask("Hello").body()).await.json(), expected);
}

#[tokio::test]
async fn conversation_of_the_provider_is_continued() {
    for mode in MODES {
        let world = UpstreamWorld::new().await;
        let conversation = world.conversation().await;
        let client = world.client().with_header(HEADER, &conversation);
        client.turn(mode, &ask("My dog is Rex.")).await;
        assert_eq!(client.turn(mode, &ask("What is my dog?")).await.text(), "Rex");
        assert_eq!(world.holds(&conversation).len(), 4);
    }
}

#[tokio::test]
async fn header_that_contradicts_the_body_is_refused() {
    let world = World::new().await;
    let (conversation, client) = named(&world.client()).await;
    let message = format!(
        "The header 'Antiphon-Conversation' names the conversation '{conversation}', but the body \
         names 'conv_other'. Send one of them, or the same id in both."
    );
    let code = Some("mutually_exclusive_parameters");
    let expected = invalid(Some("conversation"), code, &message);
    for value in [json!("conv_other"), json!({"id": "conv_other"})] {
        for mode in MODES {
            let request = ask("Hello").field("conversation", value.clone());
            assert_eq!(client.refused(mode, &request).await, expected);
        }
        for path in ["/v1/responses/compact", "/v1/responses/input_tokens"] {
            let request = ask([user("Hello")]).field("conversation", value.clone());
            assert_eq!(client.post(path, request.body()).await.refused(), expected, "{path}");
        }
    }
    let after = client.post("/v1/responses", ask("Hello").after("resp_1").body()).await.refused();
    assert_eq!(after.body["error"]["code"], "mutually_exclusive_parameters");
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn invalid_body_gets_its_own_error() {
    let world = World::new().await;
    let (_, client) = named(&world.client()).await;
    for body in ["", "[]", "{", r#"{"model":"fake-model","input":"Hello","conversation":5}"#] {
        let refused = client.post_raw("/v1/responses", body).await.refused();
        assert_eq!(refused, world.client().post_raw("/v1/responses", body).await.refused());
    }
}
