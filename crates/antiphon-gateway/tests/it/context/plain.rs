//! Turns whose model was given the whole transcript.

use serde_json::{Value, json};

use super::{assert_sent, context_of, sources};
use crate::support::{MODES, World, ask, call, output, typed_user, user};

#[tokio::test]
async fn context_of_a_chain_has_the_items_of_each_response() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let first = client.turn(mode, &ask("My color is purple")).await;
        let context = assert_sent(&world, &client, &first).await;
        assert_eq!(sources(&context), ["input"]);

        let called = client.turn(mode, &ask("Echo hello").after(first.id())).await;
        assert_sent(&world, &client, &called).await;
        let answer = json!([output(called.call_id(), "hello")]);
        let echoed = client.turn(mode, &ask(answer).after(called.id())).await;

        let context = assert_sent(&world, &client, &echoed).await;
        let responses: Vec<&Value> = context["items"]
            .as_array()
            .expect("it is there")
            .iter()
            .map(|item| &item["response_id"])
            .collect();
        let (one, two) = (&json!(first.id()), &json!(called.id()));
        assert_eq!(responses, [one, one, two, two, two, &Value::Null]);
        assert_eq!(context["left_out"], json!([]));
        assert_eq!(context["previous_response_id"], called.id());
        assert_eq!(context["request"]["tools"][0]["name"], "echo");
    }
}

#[tokio::test]
async fn context_of_a_conversation_has_all_its_items() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        for text in ["My color is purple", "Echo hello"] {
            let turn = client.turn(mode, &ask(text).within(&conversation)).await;
            let context = assert_sent(&world, &client, &turn).await;
            assert_eq!(context["conversation"], json!(conversation));
        }
        let path = format!("/v1/conversations/{conversation}/items");
        client.post(&path, &json!({"items": [typed_user("And a note")]})).await;
        let turn = client.turn(mode, &ask("Next").within(&conversation)).await;
        assert_sent(&world, &client, &turn).await;
    }
}

#[tokio::test]
async fn healthy_turn_stores_no_view() {
    let world = World::new().await;
    let client = world.client();
    let first = client.respond(&ask("My color is purple")).await;
    let turn = client.respond(&ask("What is my color?").after(first.id())).await;
    assert!(client.report(turn.id()).await.get("view").is_none());
    assert_sent(&world, &client, &turn).await;
}

#[tokio::test]
async fn resent_history_is_stored_once_in_the_context() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let history = json!([user("Echo hello"), call("call_1", "hello")]);
    client.respond(&ask(history).within(&conversation)).await;
    let again = json!([
        user("Echo hello"),
        call("call_1", "hello"),
        output(&json!("call_1"), "hello"),
        user("And?"),
    ]);
    let turn = client.respond(&ask(again).within(&conversation)).await;
    assert_sent(&world, &client, &turn).await;
}

#[tokio::test]
async fn other_tenants_and_unknown_ids_get_not_found() {
    let world = World::new().await;
    let turn = world.client().respond(&ask("Hello")).await;
    let path = format!("/v1/responses/{}/context", turn.id());

    let foreign = world.caller("token-of-bob").get(&path).await;
    let unknown = world.client().get("/v1/responses/resp_unknown/context").await;

    let shown = world.caller("token-of-bob").get(&format!("/v1/responses/{}", turn.id())).await;
    assert_eq!(foreign.status(), 404);
    assert_eq!(foreign.body(), shown.body());
    assert_eq!(unknown.status(), 404);
}

#[tokio::test]
async fn deleted_item_leaves_a_tombstone_in_the_context() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.respond(&ask("My secret is Rumpelstiltskin").within(&conversation)).await;
    let turn = client.respond(&ask("Hello").within(&conversation)).await;
    let items = client.items(&conversation).await;
    let id = items[0]["id"].as_str().expect("it is there");

    client.delete(&format!("/v1/conversations/{conversation}/items/{id}")).await;
    let context = context_of(&client, turn.id()).await;

    assert_eq!(context["exact"], false);
    assert_eq!(context["items"][0]["deleted"], true);
    assert_eq!(context["items"][0]["item"], Value::Null);
    assert_eq!(context["items"][0]["item_id"], id);
    assert!(!context.to_string().contains("Rumpelstiltskin"));

    let next = client.respond(&ask("And?").within(&conversation)).await;
    let context = assert_sent(&world, &client, &next).await;
    assert_eq!(context["left_out"][0]["fault"], "deleted");
}

#[tokio::test]
async fn difference_names_the_added_items() {
    let world = World::new().await;
    let client = world.client();
    let first = client.respond(&ask("My color is purple")).await;
    let turn = client.respond(&ask("What is my color?").after(first.id())).await;

    let path = format!("/v1/responses/{}/context?previous=true", turn.id());
    let context = client.get(&path).await.json();

    let difference = &context["difference"];
    assert_eq!(difference["previous"], first.id());
    assert_eq!(difference["common_items"], 1);
    assert_eq!(difference["added"], json!([1, 2]));
    assert_eq!(difference["removed"], json!([]));
    assert_eq!(difference["same_instructions_and_tools"], true);
}

#[tokio::test]
async fn unreadable_query_is_refused_as_an_invalid_request() {
    let world = World::new().await;
    let turn = world.client().respond(&ask("Hello")).await;
    let path = format!("/v1/responses/{}/context?previous=a&previous=b", turn.id());

    let refused = world.client().get(&path).await;

    let refused = refused.refused();
    assert_eq!(
        (refused.status, refused.body["error"]["type"].as_str()),
        (400, Some("invalid_request_error"))
    );
}
