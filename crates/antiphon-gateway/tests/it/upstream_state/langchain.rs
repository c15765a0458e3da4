//! LangChain's tool loop re-sends what the conversation holds: the user without an id, reasoning
//! and call under their ids.

use antiphon_mock::Answer;
use serde_json::{Value, json};

use super::world::World;
use crate::support::{Ask, MODEL, MODES, ask, output, typed_user};

fn thinking_and_calling() -> Answer {
    Answer::new(MODEL).reasoning("The user wants an echo.").call(
        "call_1",
        "echo",
        r#"{"text":"hi"}"#,
    )
}

/// The loop's second request: all of the first turn again, and the output.
fn loop_of(first: &Value) -> Ask {
    let mut input = vec![typed_user("Echo hi.")];
    input.extend(first["output"].as_array().expect("there is output").iter().cloned());
    input.push(output(&json!("call_1"), "hi"));
    ask(input)
}

#[tokio::test]
async fn tool_loop_sends_only_the_output() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        world.provider.script(thinking_and_calling());
        let first = ask([typed_user("Echo hi.")]).within(&conversation);
        let first = world.client().turn(mode, &first).await;

        world.provider.script(Answer::new(MODEL).message("It says hi."));
        let again = loop_of(&first.response).within(&conversation);
        let last = world.client().turn(mode, &again).await;

        assert_eq!(last.text(), "It says hi.");
        assert_eq!(world.sent(), ["output: hi"]);
        let whole = [
            "user: Echo hi.",
            "reasoning",
            r#"call echo {"text":"hi"}"#,
            "output: hi",
            "assistant: It says hi.",
        ];
        assert_eq!(world.holds(&conversation), whole);
    }
}

#[tokio::test]
async fn resent_items_are_reported() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    world.provider.script(thinking_and_calling());
    let first = world.client().respond(&ask([typed_user("Echo hi.")]).within(&conversation)).await;
    let again = loop_of(&first.response).within(&conversation);
    let last = world.client().respond(&again).await;
    assert_eq!(last.header("antiphon-resent"), Some("3"));
}

#[tokio::test]
async fn second_run_sends_only_its_message() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        world.provider.script(thinking_and_calling());
        let first = ask([typed_user("Echo hi.")]).within(&conversation);
        let first = world.client().turn(mode, &first).await;
        world.provider.script(Answer::new(MODEL).message("It says hi."));
        let second = loop_of(&first.response).within(&conversation);
        let second = world.client().turn(mode, &second).await;

        let mut replay = vec![typed_user("Echo hi.")];
        replay.extend(first.output().iter().cloned());
        replay.push(output(&json!("call_1"), "hi"));
        replay.extend(second.output().iter().cloned());
        replay.push(typed_user("Thanks."));
        world.client().turn(mode, &ask(replay).within(&conversation)).await;

        assert_eq!(world.sent(), ["user: Thanks."]);
    }
}
