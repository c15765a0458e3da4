//! A caller leaves in the middle of an answer: the provider may keep a part of the turn, all of it
//! or nothing, and does not say which.

use antiphon_mock::{Answer, Exchange, OnAbort, Script};

use super::world::World;
use crate::support::{MODEL, MODES, Mode, ask, frames_until, output, typed_user};

const OUTCOMES: [OnAbort; 3] = [OnAbort::StorePart, OnAbort::StoreWhole, OnAbort::StoreNothing];

fn thinking_and_calling() -> Answer {
    Answer::new(MODEL).reasoning("The user wants an echo.").call(
        "call_1",
        "echo",
        r#"{"text":"hi"}"#,
    )
}

/// A caller that leaves once it has heard of the call.
async fn leave_behind_the_call(world: &World, asked: &crate::support::Ask) -> String {
    let answer = thinking_and_calling();
    let until_call = frames_until(&answer, "response.function_call_arguments.done") + 1;
    let exchange: Exchange = world.provider.script(Script::from(answer).hang_after(until_call));
    let mut events = world.client().stream(asked).await;
    let id = events.response_id().await;
    events.until("response.function_call_arguments.done").await;
    events.until("response.output_item.done").await;
    drop(events);
    world.wait_for_disconnect(&exchange).await;
    id
}

#[tokio::test]
async fn next_message_after_an_abort_works() {
    for (outcome, mode) in every_way() {
        let world = World::new().await;
        world.provider.set_on_abort(outcome);
        let conversation = world.conversation().await;
        let asked = ask([typed_user("Echo hi.")]).within(&conversation);
        leave_behind_the_call(&world, &asked).await;

        let next = ask([typed_user("Never mind.")]).within(&conversation);
        let next = world.client().turn(mode, &next).await;
        assert_eq!(next.status(), "completed", "{outcome:?}");
        assert_eq!(world.provider.refusals(), [], "{outcome:?}");
    }
}

#[tokio::test]
async fn replay_after_abort_doubles_nothing() {
    for (outcome, mode) in every_way() {
        let world = World::new().await;
        world.provider.set_on_abort(outcome);
        let conversation = world.conversation().await;
        let asked = ask([typed_user("Echo hi.")]).within(&conversation);
        leave_behind_the_call(&world, &asked).await;

        let again = ask([typed_user("Echo hi."), typed_user("Please.")]).within(&conversation);
        world.client().turn(mode, &again).await;
        assert_eq!(world.provider.refusals(), [], "{outcome:?}");
        let users = world.holds(&conversation);
        let users: Vec<_> = users.iter().filter(|line| line.starts_with("user")).collect();
        assert_eq!(users, ["user: Echo hi.", "user: Please."], "{outcome:?}");
    }
}

#[tokio::test]
async fn output_of_a_stored_call_is_accepted() {
    for (outcome, mode) in every_way() {
        let world = World::new().await;
        world.provider.set_on_abort(outcome);
        let conversation = world.conversation().await;
        let asked = ask([typed_user("Echo hi.")]).within(&conversation);
        leave_behind_the_call(&world, &asked).await;
        if outcome == OnAbort::StoreNothing {
            continue;
        }
        let received = ask([output(&"call_1".into(), "hi")]).within(&conversation);
        world.client().turn(mode, &received).await;
        assert_eq!(world.sent(), ["output: hi"], "{outcome:?}");
    }
}

#[tokio::test]
async fn chain_continues_from_an_aborted_response() {
    for (outcome, mode) in every_way() {
        let world = World::new().await;
        world.provider.set_on_abort(outcome);
        let left = leave_behind_the_call(&world, &ask([typed_user("Echo hi.")])).await;
        let next = ask([typed_user("Never mind.")]).after(&left);
        match outcome {
            OnAbort::StoreNothing => {
                world.client().turn(mode, &next).await;
                let call = r#"call echo {"text":"hi"}"#;
                assert_eq!(world.given()[..2], ["user: Echo hi.", call]);
            }
            OnAbort::StorePart | OnAbort::StoreWhole => {
                world.client().turn(mode, &next).await;
                let call = r#"call echo {"text":"hi"}"#;
                assert_eq!(world.given()[..3], ["user: Echo hi.", "reasoning", call]);
            }
        }
    }
}

#[tokio::test]
async fn disconnect_leaves_a_working_conversation() {
    for outcome in OUTCOMES {
        let world = World::new().await;
        world.provider.set_on_abort(outcome);
        let conversation = world.conversation().await;
        let answer = thinking_and_calling();
        let until_call = frames_until(&answer, "response.function_call_arguments.done") + 1;
        let exchange = world.provider.script(Script::from(answer).hang_after(until_call));
        let client = world.client();
        let asked = ask([typed_user("Echo hi.")]).within(&conversation);
        {
            let mut waiting = std::pin::pin!(client.respond(&asked));
            tokio::select! {
                _ = waiting.as_mut() => panic!("it is not answered"),
                () = exchange.wait_for_sent(until_call) => {}
            }
        }
        world.wait_for_disconnect(&exchange).await;
        let next = ask([typed_user("Never mind.")]).within(&conversation);
        world.client().turn(Mode::Whole, &next).await;
        assert_eq!(world.provider.refusals(), [], "{outcome:?}");
    }
}

fn every_way() -> impl Iterator<Item = (OnAbort, Mode)> {
    OUTCOMES.into_iter().flat_map(|outcome| MODES.map(|mode| (outcome, mode)))
}
