//! A turn that others have open in a conversation of the provider, past the gateway.

use std::time::Duration;

use antiphon_mock::{Answer as Scripted, Exchange, Script};
use http::{Method, Response};
use hyper::body::Incoming;

use super::world::World;
use crate::support::{Answer, MODEL, MODES, Mode, ask, frames_until, soon, typed_user};

/// A turn past the gateway that has begun its message, and how it goes on.
async fn open_turn(world: &World, conversation: &str) -> (Response<Incoming>, Exchange) {
    let answer = Scripted::new(MODEL).message("Once upon a time");
    let until_text = frames_until(&answer, "response.output_text.delta");
    let exchange = world.provider.script(Script::from(answer).hang_after(until_text));
    let asked = ask([typed_user("A story.")]).within(conversation).field("stream", true);
    let body = asked.body().to_string();
    let begun = world.past_gateway().send(Method::POST, "/v1/responses", body).await;
    soon("its message begins", exchange.wait_for_sent(until_text)).await;
    (begun, exchange)
}

#[tokio::test]
async fn turn_waits_for_a_locked_conversation_and_syncs() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let (begun, exchange) = open_turn(&world, &conversation).await;

        let replay = ask([typed_user("A story."), typed_user("Another.")]).within(&conversation);
        let client = world.client().named_ai_sdk();
        let turn = client.turn(mode, &replay);
        let ends = async {
            soon("the gateway is told of the lock", world.refused_once()).await;
            exchange.release_all();
            Answer::read(begun).await;
        };
        futures_util::future::join(turn, ends).await;

        assert_eq!(world.sent(), ["user: Another."]);
        let story = ["user: A story.", "assistant: Once upon a time", "user: Another."];
        assert_eq!(world.given(), story);
    }
}

#[tokio::test]
async fn lock_error_passes_without_waiting() {
    let world = World::with(|settings| settings.turn_wait = Duration::ZERO).await;
    let conversation = world.conversation().await;
    let (begun, exchange) = open_turn(&world, &conversation).await;
    let refused = ask([typed_user("Another.")]).within(&conversation);
    let refused = world.client().refused(Mode::Whole, &refused).await;
    let message = "Another process is currently operating on this conversation. Please retry in a \
                   few seconds.";
    assert_eq!(refused.status, 400);
    assert_eq!(refused.body["error"]["code"], "conversation_locked");
    assert_eq!(refused.body["error"]["message"], message);
    exchange.release_all();
    Answer::read(begun).await;
}
