//! Responses that are deleted, and conversations that are.

use serde_json::json;

use crate::support::{MODES, World, ask};

#[tokio::test]
async fn deleting_a_response_keeps_its_continuations() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let received = client.turn(mode, &ask("My color is purple")).await;
        let next = client.turn(mode, &ask("My dog is Biscuit").after(received.id())).await;
        let path = format!("/v1/responses/{}", received.id());

        let deleted = client.delete(&path).await.json();

        assert_eq!(deleted, json!({"id": received.id(), "object": "response", "deleted": true}));
        for gone in [path.clone(), format!("{path}/input_items"), format!("{path}/report")] {
            assert_eq!(client.get(&gone).await.status(), 404);
        }
        assert_eq!(client.delete(&path).await.status(), 404);
        let refused = client.refused(mode, &ask("Hello").after(received.id())).await;
        assert_eq!(refused.body["error"]["code"], "previous_response_not_found");
        let question = ask("What is my color and my dog?").after(next.id());
        assert_eq!(client.turn(mode, &question).await.text(), "purple, Biscuit");
    }
}

#[tokio::test]
async fn conversation_keeps_the_items_of_a_deleted_response() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let received = client.respond(&ask("My color is purple").within(&conversation)).await;
    client.delete(&format!("/v1/responses/{}", received.id())).await.json();
    assert_eq!(client.items(&conversation).await.len(), 2);
    let recalled = client.respond(&ask("What is my color?").within(&conversation)).await;
    assert_eq!(recalled.text(), "purple");
}

#[tokio::test]
async fn responses_survive_their_deleted_conversation() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let received = client.turn(mode, &ask("My color is purple").within(&conversation)).await;
        let path = format!("/v1/conversations/{conversation}");

        let deleted = client.delete(&path).await.json();

        let expected =
            json!({"id": conversation, "object": "conversation.deleted", "deleted": true});
        assert_eq!(deleted, expected);
        assert_eq!(client.delete(&path).await.status(), 404);
        assert_eq!(client.get(&path).await.status(), 404);
        assert_eq!(client.get(&format!("{path}/items")).await.status(), 404);
        let refused = client.refused(mode, &ask("Hello").within(&conversation)).await;
        assert_eq!(refused.status, 404);
        assert_eq!(client.stored_response(received.id()).await, received.response);
        let recalled = client.turn(mode, &ask("What is my color?").after(received.id())).await;
        assert_eq!(recalled.text(), "purple");
    }
}
