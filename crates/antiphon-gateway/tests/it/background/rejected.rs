//! What is wrong is refused at once, as of any turn, and changes nothing.

use serde_json::{Value, json};

use super::{in_background, start_tale};
use crate::support::{MODES, Mode, World, ask, invalid, output};

#[tokio::test]
async fn unstored_background_response_is_rejected() {
    let world = World::new().await;
    for mode in MODES {
        let refused = world.client().refused(mode, &in_background("Hello").unstored()).await;
        let message = "Background responses require 'store' to be true.";
        assert_eq!(refused, invalid(Some("background"), Some("invalid_value"), message));
    }
}

#[tokio::test]
async fn invalid_request_is_rejected_before_it_is_queued() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let never = format!("resp_{}", "0".repeat(48));
    let orphan = ask(json!([output(&json!("call_1"), "hello")])).within(&conversation);
    for asking in [orphan, ask("Hello").after(&never)] {
        for mode in MODES {
            let foreground = client.refused(mode, &asking).await;
            let background = client.refused(mode, &asking.clone().field("background", true)).await;
            assert_eq!(background, foreground);
        }
    }
    assert_eq!(client.items(&conversation).await, Vec::<Value>::new());
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn background_turns_count_as_open_turns() {
    let world = World::with(|settings| settings.limits.max_open_turns = 1).await;
    let client = world.client();
    let (events, id, exchange) = start_tale(&world, &client, &in_background("A tale")).await;
    drop(events);

    let refused = client.create(Mode::Whole, &in_background("Another")).await;
    assert_eq!(refused.status(), 429);
    exchange.release_all();
    client.wait_until_ended(&id).await;

    assert_eq!(client.create(Mode::Whole, &in_background("Another")).await.status(), 200);
}

#[tokio::test]
async fn invalid_starting_after_is_rejected() {
    let world = World::new().await;
    let client = world.client();
    let turn = client.turn(Mode::Streamed, &in_background("Hello")).await;
    for (number, code) in [("-1", "integer_below_min_value"), ("one", "invalid_type")] {
        let path = format!("/v1/responses/{}?stream=true&starting_after={number}", turn.id());
        let refused = client.get(&path).await.refused();
        assert_eq!((refused.status, &refused.body["error"]["code"]), (400, &json!(code)));
        assert_eq!(refused.body["error"]["param"], "starting_after");
    }
}
