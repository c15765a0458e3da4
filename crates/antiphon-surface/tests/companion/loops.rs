//! A tool loop that re-sends what the conversation holds: the user without an id, reasoning and call
//! under their ids, as LangChain does.

use antiphon_testkit::Answer;
use serde_json::{Value, json};

use crate::world::{MODEL, MODES, Mode, World, output, thinking_and_calling, user};

/// The loop's second request: all of the first turn again, and the output.
fn loop_of(first: &[Value]) -> Vec<Value> {
    let mut input = vec![user("Echo hi.")];
    input.extend_from_slice(first);
    input.push(output("call_1", "hi"));
    input
}

#[tokio::test]
async fn of_a_loop_only_the_output_is_sent_and_of_a_second_run_its_message() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        world.provider.script(thinking_and_calling());
        let first = json!({"conversation": conversation, "input": [user("Echo hi.")]});
        let first = world.turn(mode, first).await;
        world.provider.script(Answer::new(MODEL).message("It says hi."));
        let mut history = loop_of(&first.output());
        let second = json!({"conversation": {"id": conversation}, "input": history});
        let second = world.turn(mode, second).await;
        assert_eq!(world.sent(), ["output: hi"]);
        assert_eq!(second.report.resent, 3);
        assert_eq!(second.report.headers(), [("antiphon-resent", "3".to_owned())]);

        history.extend(second.output());
        history.push(user("Thanks."));
        let third = json!({"conversation": conversation, "input": history});
        world.turn(mode, third).await;

        assert_eq!(world.sent(), ["user: Thanks."]);
        assert_eq!(world.times_asked(), 1, "only what was met for the first time was asked for");
        let held = world.holds(&conversation);
        let call = r#"call echo {"text":"hi"}"#;
        let begin = ["user: Echo hi.", "reasoning", call, "output: hi", "assistant: It says hi."];
        assert_eq!(held[..5], begin);
    }
}

#[tokio::test]
async fn what_is_new_goes_byte_for_byte() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let body = json!({"conversation": conversation, "input": "My color is purple"});
    world.turn(Mode::Whole, body).await;
    assert_eq!(world.sent(), ["text: My color is purple"]);
    let body = json!({"conversation": conversation, "input": [user("My dog is Biscuit")]});
    world.turn(Mode::Streamed, body).await;
    assert_eq!(world.sent(), ["user: My dog is Biscuit"]);
}

#[tokio::test]
async fn where_all_is_held_the_model_is_asked_again_behind_it() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    world.provider.script(thinking_and_calling());
    let first = json!({"conversation": conversation, "input": [user("Echo hi.")]});
    let first = world.turn(Mode::Whole, first).await;
    let delivered = world.deliver(&conversation, &[output("call_1", "hi")]).await;
    assert_eq!(delivered.expect("it is posted").status, 200);

    let again = json!({"conversation": conversation, "input": loop_of(&first.output())});
    world.turn(Mode::Whole, again).await;
    assert_eq!(world.sent(), [""; 0]);
}

#[tokio::test]
async fn who_says_the_same_twice_says_it_twice() {
    let mut world = World::new().await;
    world.repeats = true;
    let conversation = world.conversation().await;
    for _ in 0..3 {
        let body = json!({"conversation": conversation, "input": [user("Yes.")]});
        world.turn(Mode::Streamed, body).await;
        assert_eq!(world.sent(), ["user: Yes."]);
    }
    let users = world.holds(&conversation).into_iter().filter(|line| line == "user: Yes.");
    assert_eq!(users.count(), 3);
}
