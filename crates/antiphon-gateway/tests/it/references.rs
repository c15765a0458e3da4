//! `item_reference`: an item of the caller's by its id.

use serde_json::{Value, json};

use crate::support::{MODES, World, ask, not_found, output, reference, typed_user, user};

#[tokio::test]
async fn reference_finds_an_item_of_another_response() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let received = client.turn(mode, &ask("My color is purple")).await;
        let listed =
            client.get(&format!("/v1/responses/{}/input_items", received.id())).await.json();

        let refer = json!([
            reference(&listed["data"][0]["id"]),
            reference(&received.item("message")["id"]),
            user("What is my color?"),
        ]);
        let recalled = client.turn(mode, &ask(refer)).await;

        assert_eq!(recalled.text(), "purple");
        assert_eq!(
            world.view(1).await,
            ["user: My color is purple", "assistant: Noted.", "user: What is my color?"]
        );
    }
}

#[tokio::test]
async fn bare_id_is_a_reference() {
    let world = World::new().await;
    let client = world.client();
    let received = client.respond(&ask("My color is purple")).await;
    let bare = json!({"id": received.item("message")["id"]});
    client.respond(&ask(json!([typed_user("Hello"), bare, typed_user("Hello")]))).await;
    assert_eq!(world.view(1).await, ["user: Hello", "assistant: Noted.", "user: Hello"]);
}

#[tokio::test]
async fn reference_to_a_stored_item_is_sent_once() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).within(&conversation);
        let received = client.turn(mode, &say("My color is purple".into())).await;

        let refer = json!([reference(&received.item("message")["id"]), user("What is my color?")]);
        let recalled = client.turn(mode, &say(refer)).await;

        assert_eq!(recalled.header("antiphon-resent"), Some("1"));
        assert_eq!(world.view(1).await.len(), 3);
    }
}

#[tokio::test]
async fn referenced_call_accepts_its_output() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let called = client.turn(mode, &ask("Echo hello")).await;
        let refer = json!([
            typed_user("Echo hello"),
            reference(&called.item("reasoning")["id"]),
            reference(&called.item("function_call")["id"]),
            output(called.call_id(), "hello"),
        ]);

        let echoed = client.turn(mode, &ask(refer)).await;

        assert_eq!(echoed.text(), "echo said: hello");
        assert_eq!(echoed.header("antiphon-repairs"), None);
        assert_eq!(world.view(1).await.len(), 4);
    }
}

#[tokio::test]
async fn unknown_reference_is_not_found() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let message = "Item with id 'rs_lost' not found. Items are not persisted when `store` is set \
        to false. Try again with `store` set to true, or remove this item from your input.";
    for mode in MODES {
        let refer = ask(json!([reference(&json!("rs_lost")), user("Hello")]));
        for ask in [refer.clone(), refer.within(&conversation)] {
            let refused = client.refused(mode, &ask).await;
            assert_eq!(refused, not_found(Some("input"), message));
        }
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn unstored_item_reference_is_rejected() {
    let world = World::new().await;
    let client = world.client();
    let received = client.respond(&ask("My color is purple").unstored()).await;
    let id = &received.item("message")["id"];

    let refused = client.refused(MODES[0], &ask(json!([reference(id), user("Hello")]))).await;

    assert_eq!(refused.status, 404);
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(message.contains(id.as_str().unwrap()), "{message}");
}
