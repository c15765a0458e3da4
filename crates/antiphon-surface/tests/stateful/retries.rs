//! A client retries a request whose answer was cut off.

use antiphon_mock::{OnAbort, Reply, Script};
use http::{Method, StatusCode};
use serde_json::json;

use crate::world::{Mode, World, thinking_and_calling, user};

const OUTCOMES: [OnAbort; 3] = [OnAbort::StorePart, OnAbort::StoreWhole, OnAbort::StoreNothing];

#[tokio::test]
async fn retried_message_is_not_stored_twice() {
    for outcome in OUTCOMES {
        let world = World::new().await;
        world.provider.set_on_abort(outcome);
        let conversation = world.conversation().await;
        let body = || json!({"conversation": conversation, "input": [user("Echo hi.")]});
        let events = thinking_and_calling().frames().len() - 2;
        world.provider.script(Script::from(thinking_and_calling()).break_after(events));
        let mut begun = world.begin(Mode::Streamed, body()).await.expect("the turn is accepted");
        while begun.more().await {}
        begun.turn.abandon();
        world.wait_until_idle().await;

        // The next attempt fails before the turn begins.
        let error = json!({"error": {"message": "Slow down"}});
        let busy = Reply::json(StatusCode::TOO_MANY_REQUESTS, &error);
        world.provider.reply_instead(Method::POST, "/responses", busy);
        assert_eq!(world.attempt(Mode::Streamed, body()).await.status, 429);
        world.turn(Mode::Streamed, body()).await;

        let held = world.stored_items(&conversation);
        let asked = held.iter().filter(|line| *line == "user: Echo hi.").count();
        assert_eq!(asked, 1, "{outcome:?}: {held:?}");
        assert_eq!(world.provider.refusals(), []);
    }
}

#[tokio::test]
async fn same_text_in_a_later_turn_is_new() {
    let mut world = World::new().await;
    world.repeats = true;
    let conversation = world.conversation().await;
    let body = || json!({"conversation": conversation, "input": [user("Echo hi.")]});
    world.provider.set_on_abort(OnAbort::StoreNothing);
    world.turn(Mode::Whole, body()).await;
    world.provider.script(Script::from(thinking_and_calling()).break_after(2));
    let mut begun = world.begin(Mode::Streamed, body()).await.expect("the turn is accepted");
    while begun.more().await {}
    drop(begun);
    world.wait_until_idle().await;
    for _ in 0..2 {
        world.turn(Mode::Whole, body()).await;
        assert_eq!(world.sent(), ["user: Echo hi."]);
    }
    let held = world.stored_items(&conversation);
    assert_eq!(held.iter().filter(|line| *line == "user: Echo hi.").count(), 3);
}
