//! The gateway dies in the middle of an answer, and another takes its place.

use antiphon_mock::{Answer, OnAbort, Script};

use super::world::World;
use crate::support::{MODEL, Mode, ask, frames_until, typed_user};

const OUTCOMES: [OnAbort; 3] = [OnAbort::StorePart, OnAbort::StoreWhole, OnAbort::StoreNothing];

#[tokio::test]
async fn next_turn_syncs_after_a_crash() {
    for outcome in OUTCOMES {
        let mut world = World::new().await;
        world.provider.set_on_abort(outcome);
        let conversation = world.conversation().await;
        let answer = Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#);
        let until_call = frames_until(&answer, "response.output_item.done");
        let exchange = world.provider.script(Script::from(answer).hang_after(until_call));
        let asked = ask([typed_user("Echo hi.")]).within(&conversation);
        let mut events = world.client().stream(&asked).await;
        events.until("response.output_item.done").await;
        world.kill_and_start().await;
        drop(events);
        world.wait_for_disconnect(&exchange).await;

        let again = ask([typed_user("Echo hi."), typed_user("Please.")]).within(&conversation);
        world.client().turn(Mode::Streamed, &again).await;
        assert_eq!(world.provider.refusals(), [], "{outcome:?}");
        let users = world.holds(&conversation);
        let users: Vec<_> = users.iter().filter(|line| line.starts_with("user")).collect();
        assert_eq!(users, ["user: Echo hi.", "user: Please."], "{outcome:?}");
    }
}

#[tokio::test]
async fn announced_response_is_continued_after_a_crash() {
    let mut world = World::new().await;
    let answer = Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#);
    let until_call = frames_until(&answer, "response.output_item.done");
    let exchange = world.provider.script(Script::from(answer).hang_after(until_call));
    let mut events = world.client().stream(&ask([typed_user("Echo hi.")])).await;
    let id = events.response_id().await;
    events.until("response.output_item.done").await;
    world.kill_and_start().await;
    drop(events);
    world.wait_for_disconnect(&exchange).await;

    let next = ask([typed_user("Never mind.")]).after(&id);
    world.client().turn(Mode::Streamed, &next).await;
    assert_eq!(world.provider.refusals(), []);
    assert_eq!(world.given()[..2], ["user: Echo hi.", r#"call echo {"text":"hi"}"#]);
}
