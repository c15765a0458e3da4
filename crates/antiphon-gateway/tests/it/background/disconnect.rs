//! Who leaves changes nothing.

use super::{in_background, start_tale};
use crate::support::World;

#[tokio::test]
async fn disconnect_does_not_end_the_response() {
    let world = World::new().await;
    let client = world.client();
    let (events, id, exchange) = start_tale(&world, &client, &in_background("A tale")).await;
    let received = events.seen().len();

    drop(events);
    exchange.release_all();

    let ended = client.wait_until_ended(&id).await;
    assert_eq!(ended["output"][0]["content"][0]["text"], "Once upon a time");
    world.wait_until_read(&exchange).await;
    let rest = client.stream_again(&id, Some(received - 1)).await.all().await;
    assert_eq!(rest.last().unwrap().json["response"], ended);
    assert_eq!(rest[0].json["sequence_number"], received);
}
