//! A client leaves in the middle of an answer: the provider may keep a part of the turn, all of it or
//! nothing, and does not say which.

use antiphon_provider::{OnAbort, Script};
use serde_json::json;

use crate::world::{Mode, World, output, thinking_and_calling, user};

const OUTCOMES: [OnAbort; 3] = [OnAbort::Part, OnAbort::Whole, OnAbort::Nothing];

fn events() -> usize {
    thinking_and_calling().frames().len()
}

/// A turn whose caller leaves behind so many events; the id that was announced.
async fn leave_behind(world: &World, body: serde_json::Value, events: usize) -> Option<String> {
    world.provider.script(Script::from(thinking_and_calling()).hang_after(events));
    let mut begun = world.begin(Mode::Streamed, body).await.expect("it is accepted");
    let id = match events {
        0 => None,
        1 => Some(begun.until("response.created").await["id"].clone()),
        _ => {
            begun.until("response.created").await;
            begun.events(events).await;
            Some(begun.until("response.created").await["id"].clone())
        }
    };
    begun.turn.left();
    drop(begun);
    world.settled().await;
    id.and_then(|id| id.as_str().map(str::to_owned))
}

#[tokio::test]
async fn the_next_message_is_accepted_wherever_the_turn_was_left() {
    for outcome in OUTCOMES {
        for left_at in 0..events() {
            let world = World::new().await;
            world.provider.on_abort(outcome);
            let conversation = world.conversation().await;
            let asked = json!({"conversation": conversation, "input": [user("Echo hi.")]});
            leave_behind(&world, asked, left_at).await;
            for text in ["Never mind.", "Bye."] {
                let next = json!({"conversation": conversation, "input": [user(text)]});
                world.turn(Mode::Streamed, next).await;
            }
            assert_eq!(world.provider.refusals(), [], "{outcome:?} behind {left_at} events");
        }
    }
}

#[tokio::test]
async fn a_client_that_replays_what_it_saw_doubles_nothing() {
    for outcome in OUTCOMES {
        let world = World::new().await;
        world.provider.on_abort(outcome);
        let conversation = world.conversation().await;
        let asked = json!({"conversation": conversation, "input": [user("Echo hi.")]});
        leave_behind(&world, asked, events() - 1).await;
        let again = json!([user("Echo hi."), user("Please.")]);
        world.turn(Mode::Whole, json!({"conversation": conversation, "input": again})).await;
        assert_eq!(world.provider.refusals(), [], "{outcome:?}");
        let users = world.holds(&conversation);
        let users: Vec<_> = users.iter().filter(|line| line.starts_with("user")).collect();
        assert_eq!(users, ["user: Echo hi.", "user: Please."], "{outcome:?}");
    }
}

#[tokio::test]
async fn a_turn_that_is_dropped_was_left() {
    let world = World::new().await;
    world.provider.on_abort(OnAbort::Part);
    let conversation = world.conversation().await;
    let script = Script::from(thinking_and_calling()).hang_after(events() - 1);
    world.provider.script(script);
    let asked = json!({"conversation": conversation, "input": [user("Echo hi.")]});
    let mut begun = world.begin(Mode::Streamed, asked).await.expect("it is accepted");
    begun.events(events() - 1).await;
    drop(begun);
    world.settled().await;
    let next = json!({"conversation": conversation, "input": [output("call_1", "hi")]});
    world.turn(Mode::Whole, next).await;
    assert_eq!(world.sent(), ["output: hi"]);
}

#[tokio::test]
async fn who_leaves_behind_the_end_has_left_nothing_in_doubt() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let asked = json!({"conversation": conversation, "input": [user("Hi.")]});
    let mut begun = world.begin(Mode::Streamed, asked).await.expect("it is accepted");
    begun.until("response.completed").await;
    begun.turn.left();
    drop(begun);
    world.settled().await;
    let next = json!({"conversation": conversation, "input": [user("Bye.")]});
    world.turn(Mode::Whole, next).await;
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn a_chain_goes_on_from_a_response_that_was_left() {
    for outcome in [OnAbort::Part, OnAbort::Whole] {
        for left_at in 1..events() {
            let world = World::new().await;
            world.provider.on_abort(outcome);
            let asked = json!({"input": [user("Echo hi.")]});
            let left = leave_behind(&world, asked, left_at).await.expect("it was announced");
            let next = json!({"previous_response_id": left, "input": [user("Never mind.")]});
            let next = world.turn(Mode::Whole, next).await;
            let last = json!({"previous_response_id": next.id(), "input": [user("Bye.")]});
            world.turn(Mode::Whole, last).await;
            assert_eq!(world.provider.refusals(), [], "{outcome:?} behind {left_at} events");
        }
    }
}

#[tokio::test]
async fn a_failed_turn_leaves_a_conversation_that_works() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let failed = r#"[{"answer": [], "failed": {"code": "server_error", "message": "Oh."}},
                     {"status": 503, "body": {"error": {"message": "Overloaded"}}},
                     {"answer": [{"message": "Hel"}], "break_after": 4}]"#;
    for script in Script::read_all(failed).expect("it is a script") {
        world.provider.script(script);
        let asked = json!({"conversation": conversation, "input": [user("Echo hi.")]});
        if let Ok(mut begun) = world.begin(Mode::Streamed, asked).await {
            while begun.more().await {}
            begun.turn.ended();
        }
        world.settled().await;
    }
    let next = json!([user("Echo hi."), user("Please.")]);
    world.turn(Mode::Whole, json!({"conversation": conversation, "input": next})).await;
    world.turn(Mode::Whole, json!({"conversation": conversation, "input": "Bye."})).await;
}
