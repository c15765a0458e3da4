//! A tool loop that resends stored items: the user message without an id, reasoning and calls with
//! their ids, as LangChain does.

use antiphon_mock::Answer;
use serde_json::{Value, json};

use crate::world::{MODEL, MODES, Mode, World, output, thinking_and_calling, user};

/// The loop's second request: the whole first turn and the output.
fn loop_of(first: &[Value]) -> Vec<Value> {
    let mut input = vec![user("Echo hi.")];
    input.extend_from_slice(first);
    input.push(output("call_1", "hi"));
    input
}

#[tokio::test]
async fn tool_loop_sends_only_new_items() {
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
        assert_eq!(world.list_requests(), 1, "only the first contact reads the provider's list");
        let held = world.stored_items(&conversation);
        let call = r#"call echo {"text":"hi"}"#;
        let begin = ["user: Echo hi.", "reasoning", call, "output: hi", "assistant: It says hi."];
        assert_eq!(held[..5], begin);
    }
}

#[tokio::test]
async fn new_items_are_sent_byte_for_byte() {
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
async fn fully_stored_input_runs_the_model_again() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    world.provider.script(thinking_and_calling());
    let first = json!({"conversation": conversation, "input": [user("Echo hi.")]});
    let first = world.turn(Mode::Whole, first).await;
    let delivered = world.deliver(&conversation, &[output("call_1", "hi")]).await;
    assert_eq!(delivered.expect("the output is posted").status, 200);

    let again = json!({"conversation": conversation, "input": loop_of(&first.output())});
    world.turn(Mode::Whole, again).await;
    assert_eq!(world.sent(), [""; 0]);
}

#[tokio::test]
async fn repeated_user_message_is_stored_twice() {
    let mut world = World::new().await;
    world.repeats = true;
    let conversation = world.conversation().await;
    for _ in 0..3 {
        let body = json!({"conversation": conversation, "input": [user("Yes.")]});
        world.turn(Mode::Streamed, body).await;
        assert_eq!(world.sent(), ["user: Yes."]);
    }
    let users = world.stored_items(&conversation).into_iter().filter(|line| line == "user: Yes.");
    assert_eq!(users.count(), 3);
}
