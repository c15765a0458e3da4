//! The inspector of one gateway shows the open turns of another.

use serde_json::{Value, json};

use super::start_tale;
use crate::support::{Client, World, ask};

async fn live(client: &Client, conversation: &str) -> Value {
    let path = format!("/inspect/conversations/{conversation}.json");
    client.get(&path).await.json()["live"].clone()
}

#[tokio::test]
async fn each_replica_shows_the_open_turn_and_its_queue() {
    let world = World::replicas(2).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    let conversation = one.new_conversation().await;
    let (events, id, exchange) =
        start_tale(&world, &one, &ask("Tell me a tale").within(&conversation)).await;
    let waiting = {
        let (other, asking) = (other.clone(), ask("Hello").within(&conversation));
        tokio::spawn(async move { other.respond(&asking).await })
    };
    world.wait_for_queue_length(2).await;

    let open = json!({"leased": true, "queued": 1, "background": false, "response": id});
    assert_eq!(live(&one, &conversation).await, open);
    assert_eq!(live(&other, &conversation).await, open);

    exchange.release_all();
    assert_eq!(events.ended().await.status(), "completed");
    waiting.await.expect("it does not panic");
    let idle = json!({"leased": false, "queued": 0, "background": false, "response": null});
    for client in [&one, &other] {
        assert_eq!(live(client, &conversation).await, idle);
    }
}

#[tokio::test]
async fn only_the_replica_of_an_open_turn_ends_it() {
    let world = World::replicas(2).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    let conversation = one.new_conversation().await;
    let (events, id, _exchange) =
        start_tale(&world, &one, &ask("Tell me a tale").within(&conversation)).await;
    let path = format!("/v1/responses/{id}/end");

    let refused = other.post(&path, &json!({})).await.refused();
    assert_eq!(refused.status, 400);
    let message =
        "Another process of the gateway runs this turn. Send the request to that process.";
    assert_eq!(refused.body["error"]["message"], message);

    assert_eq!(one.post(&path, &json!({})).await.json()["ended"], true);
    assert_eq!(events.ended().await.response["error"]["code"], "turn_ended");
}
