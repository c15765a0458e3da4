//! The request as the upstream gets it.

use serde_json::{Value, json};

use crate::support::{MODES, World, ask};

#[tokio::test]
async fn upstream_request_is_stateless_and_streamed() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let received = client.turn(mode, &ask("Hello").within(&conversation)).await;
        client.turn(mode, &ask("Hello").after(received.id())).await;
        client.turn(mode, &ask("Hello").unstored()).await;
        client.turn(mode, &ask("Hello").field("store", true)).await;

        for index in 0..4 {
            let body = world.request(index).await.body;
            assert_eq!(body["store"], false);
            assert_eq!(body["stream"], true);
            assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
            assert_eq!(body.get("conversation"), None);
            assert_eq!(body.get("previous_response_id"), None);
        }
        assert_eq!(world.upstream.refusals(), []);
    }
}

#[tokio::test]
async fn other_fields_are_forwarded_unchanged() {
    for mode in MODES {
        let world = World::new().await;
        let asked = ask("Hello")
            .field("instructions", "Be brief.")
            .field("tool_choice", json!({"type": "function", "name": "echo"}))
            .field("reasoning", json!({"effort": "low", "summary": "auto"}))
            .field("text", json!({"format": {"type": "json_object"}}))
            .field("user", "alice")
            .field("acme", json!({"nested": [1, 2.5, null]}));

        world.client().turn(mode, &asked).await;

        let body = world.request(0).await.body;
        let own = ["input", "store", "stream", "include"];
        let fields = asked.body().as_object().unwrap().iter();
        for (field, value) in fields.filter(|(field, _)| !own.contains(&field.as_str())) {
            assert_eq!(body[field], *value, "{field}");
        }
    }
}

#[tokio::test]
async fn string_input_is_sent_as_a_user_message() {
    let world = World::new().await;
    world.client().respond(&ask("Hello \"there\"\n")).await;
    let request = world.request(0).await;
    let item = &request.input()[0];
    assert_eq!((&item["type"], &item["role"]), (&json!("message"), &json!("user")));
    assert_eq!(item["content"], "Hello \"there\"\n");
}

#[tokio::test]
async fn own_ids_are_not_sent_upstream() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.respond(&ask("Hello").within(&conversation)).await;
    client.respond(&ask("Hello").within(&conversation)).await;
    let request = world.request(1).await;
    assert_eq!(request.input()[0].get("id"), None::<&Value>);
}
