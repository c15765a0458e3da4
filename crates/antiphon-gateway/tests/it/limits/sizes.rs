//! How much a request may hold.

use serde_json::{Value, json};

use crate::support::{World, ask, assistant, invalid, user};

#[tokio::test]
async fn too_large_headers_are_rejected() {
    let world = World::with(|settings| settings.limits.max_header_bytes = 1000).await;
    let client = world.client();
    let answer = client.clone().with_header("x-much", &"x".repeat(1000)).get("/v1/models").await;
    let refused = answer.refused();
    assert_eq!(refused.status, 431);
    assert_eq!(refused.body["error"]["message"], "The request's headers are over 1000 bytes.");

    assert_eq!(
        client.with_header("x-much", &"x".repeat(500)).get("/v1/models").await.status(),
        200
    );
}

#[tokio::test]
async fn huge_headers_are_rejected_unread() {
    let world = World::with(|settings| settings.limits.max_header_bytes = 1000).await;
    let client = world.client().with_header("x-much", &"x".repeat(5000));
    assert_eq!(client.get("/v1/models").await.status(), 431);
}

#[tokio::test]
async fn too_large_body_is_rejected_on_an_open_connection() {
    let world = World::with(|settings| settings.limits.max_body_bytes = 1000).await;
    let client = world.client();
    let refused = client.post("/v1/responses", ask("x".repeat(1500)).body()).await.refused();
    assert_eq!(refused.status, 413);
    assert_eq!(refused.body["error"]["message"], "The request's body is over 1000 bytes.");
    assert_eq!(world.times_asked(), 0);
    client.respond(&ask("Hello")).await;
}

#[tokio::test]
async fn too_many_items_are_rejected() {
    let world = World::with(|settings| settings.limits.max_items = 3).await;
    let client = world.client();
    let of = |count: usize| -> Value {
        [user("Hello"), assistant("Hello"), user("Hello"), assistant("Bye")][..count].into()
    };
    client.respond(&ask(of(3))).await;

    let answer = client.post("/v1/responses", ask(of(4)).body()).await;

    let message = "Invalid 'input': array too long. Expected an array with maximum length 3, but \
                   got an array with length 4 instead.";
    let expected = invalid(Some("input"), Some("array_above_max_length"), message);
    assert_eq!(answer.refused(), expected);
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn too_long_item_is_rejected_on_every_route() {
    let world = World::with(|settings| settings.limits.max_item_bytes = 200).await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let long = user(&"x".repeat(200));
    let items = format!("/v1/conversations/{conversation}/items");
    for (path, body, param) in [
        ("/v1/responses", ask(json!([user("Hello"), long])).body().clone(), "input[1]"),
        ("/v1/responses", ask("x".repeat(200)).body().clone(), "input"),
        ("/v1/conversations", json!({"items": [long]}), "items[0]"),
        (&*items, json!({"items": [long]}), "items[0]"),
    ] {
        let refused = client.post(path, &body).await.refused();
        assert_eq!(refused.status, 400, "{path}");
        assert_eq!(refused.body["error"]["code"], "string_above_max_length", "{path}");
        assert_eq!(refused.body["error"]["param"], param, "{path}");
    }
    assert_eq!(client.items(&conversation).await, Vec::<Value>::new());
    assert_eq!(world.times_asked(), 0);
}
