//! A client disconnects in the middle of an answer. The provider may store part of the turn, all of
//! it or nothing, and does not report which.

use antiphon_mock::{OnAbort, Script};
use serde_json::json;

use crate::world::{Mode, NOW, World, output, thinking_and_calling, user};

const OUTCOMES: [OnAbort; 3] = [OnAbort::StorePart, OnAbort::StoreWhole, OnAbort::StoreNothing];

fn events() -> usize {
    thinking_and_calling().frames().len()
}

/// Disconnects from a turn after `events` events. Returns the announced response id.
async fn leave_after(world: &World, body: serde_json::Value, events: usize) -> Option<String> {
    world.provider.script(Script::from(thinking_and_calling()).hang_after(events));
    let mut begun = world.begin(Mode::Streamed, body).await.expect("the turn is accepted");
    let id = match events {
        0 => None,
        1 => Some(begun.until("response.created").await["id"].clone()),
        _ => {
            begun.until("response.created").await;
            begun.events(events).await;
            Some(begun.until("response.created").await["id"].clone())
        }
    };
    begun.turn.abandon();
    drop(begun);
    world.wait_until_idle().await;
    id.and_then(|id| id.as_str().map(str::to_owned))
}

#[tokio::test]
async fn next_turn_is_accepted_after_any_disconnect() {
    for outcome in OUTCOMES {
        for left_at in 0..events() {
            let world = World::new().await;
            world.provider.set_on_abort(outcome);
            let conversation = world.conversation().await;
            let asked = json!({"conversation": conversation, "input": [user("Echo hi.")]});
            leave_after(&world, asked, left_at).await;
            for text in ["Never mind.", "Bye."] {
                let next = json!({"conversation": conversation, "input": [user(text)]});
                world.turn(Mode::Streamed, next).await;
            }
            assert_eq!(world.provider.refusals(), [], "{outcome:?} after {left_at} events");
        }
    }
}

#[tokio::test]
async fn replay_after_disconnect_stores_nothing_twice() {
    for outcome in OUTCOMES {
        let world = World::new().await;
        world.provider.set_on_abort(outcome);
        let conversation = world.conversation().await;
        let asked = json!({"conversation": conversation, "input": [user("Echo hi.")]});
        leave_after(&world, asked, events() - 1).await;
        let again = json!([user("Echo hi."), user("Please.")]);
        world.turn(Mode::Whole, json!({"conversation": conversation, "input": again})).await;
        assert_eq!(world.provider.refusals(), [], "{outcome:?}");
        let users = world.stored_items(&conversation);
        let users: Vec<_> = users.iter().filter(|line| line.starts_with("user")).collect();
        assert_eq!(users, ["user: Echo hi.", "user: Please."], "{outcome:?}");
    }
}

#[tokio::test]
async fn dropped_turn_counts_as_disconnect() {
    let world = World::new().await;
    world.provider.set_on_abort(OnAbort::StorePart);
    let conversation = world.conversation().await;
    let script = Script::from(thinking_and_calling()).hang_after(events() - 1);
    world.provider.script(script);
    let asked = json!({"conversation": conversation, "input": [user("Echo hi.")]});
    let mut begun = world.begin(Mode::Streamed, asked).await.expect("the turn is accepted");
    begun.events(events() - 1).await;
    drop(begun);
    world.wait_until_idle().await;
    let next = json!({"conversation": conversation, "input": [output("call_1", "hi")]});
    world.turn(Mode::Whole, next).await;
    assert_eq!(world.sent(), ["output: hi"]);
}

#[tokio::test]
async fn disconnect_after_the_end_leaves_ledger_fresh() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let asked = json!({"conversation": conversation, "input": [user("Hi.")]});
    let mut begun = world.begin(Mode::Streamed, asked).await.expect("the turn is accepted");
    begun.until("response.completed").await;
    begun.turn.abandon();
    drop(begun);
    world.wait_until_idle().await;
    let next = json!({"conversation": conversation, "input": [user("Bye.")]});
    world.turn(Mode::Whole, next).await;
    assert_eq!(world.list_requests(), 1);
}

#[tokio::test]
async fn cancelled_response_can_be_continued() {
    for outcome in [OnAbort::StorePart, OnAbort::StoreWhole] {
        for left_at in 1..events() {
            let world = World::new().await;
            world.provider.set_on_abort(outcome);
            let asked = json!({"input": [user("Echo hi.")]});
            let left =
                leave_after(&world, asked, left_at).await.expect("the response was announced");
            let next = json!({"previous_response_id": left, "input": [user("Never mind.")]});
            let next = world.turn(Mode::Whole, next).await;
            let last = json!({"previous_response_id": next.id(), "input": [user("Bye.")]});
            world.turn(Mode::Whole, last).await;
            assert_eq!(world.provider.refusals(), [], "{outcome:?} after {left_at} events");
        }
    }
}

#[tokio::test]
async fn conversation_works_after_failed_turn() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let failed = r#"[{"answer": [], "failed": {"code": "server_error", "message": "Oh."}},
                     {"status": 503, "body": {"error": {"message": "Overloaded"}}},
                     {"answer": [{"message": "Hel"}], "break_after": 4}]"#;
    for script in Script::read_all(failed).expect("the script is valid") {
        world.provider.script(script);
        let asked = json!({"conversation": conversation, "input": [user("Echo hi.")]});
        if let Ok(mut begun) = world.begin(Mode::Streamed, asked).await {
            while begun.more().await {}
            begun.turn.finish(NOW);
        }
        world.wait_until_idle().await;
    }
    let next = json!([user("Echo hi."), user("Please.")]);
    world.turn(Mode::Whole, json!({"conversation": conversation, "input": next})).await;
    world.turn(Mode::Whole, json!({"conversation": conversation, "input": "Bye."})).await;
}
