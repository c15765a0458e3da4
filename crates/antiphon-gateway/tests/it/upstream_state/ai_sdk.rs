//! The AI SDK: with a conversation the user's message comes again with the output of a call that is
//! held; in a chain a tool loop stays on the older response.

use antiphon_mock::Answer;
use serde_json::json;

use super::world::World;
use crate::support::{MODEL, MODES, ask, call, output, user};

fn calling() -> Answer {
    Answer::new(MODEL).reasoning("The user wants an echo.").call(
        "call_1",
        "echo",
        r#"{"text":"hi"}"#,
    )
}

#[tokio::test]
async fn resent_user_message_is_stored_once() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        world.provider.script(calling());
        world.client().turn(mode, &ask([user("Echo hi.")]).within(&conversation)).await;

        let again = ask([user("Echo hi."), output(&json!("call_1"), "hi")]).within(&conversation);
        world.client().turn(mode, &again).await;

        assert_eq!(world.sent(), ["output: hi"]);
    }
}

#[tokio::test]
async fn consecutive_user_messages_are_stored_once() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let client = world.client().named_ai_sdk();
        client.turn(mode, &ask([user("One.")]).within(&conversation)).await;
        client.turn(mode, &ask([user("One."), user("Two.")]).within(&conversation)).await;
        let third = ask([user("One."), user("Two."), user("Three.")]).within(&conversation);
        client.turn(mode, &third).await;

        assert_eq!(world.sent(), ["user: Three."]);
        let users: Vec<_> =
            world.holds(&conversation).into_iter().filter(|it| it.starts_with("user")).collect();
        assert_eq!(users, ["user: One.", "user: Two.", "user: Three."]);
    }
}

#[tokio::test]
async fn tool_loop_on_an_older_response_forks() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let older = client.turn(mode, &ask([user("My dog is Rex.")])).await;
        world.provider.script(calling());
        client.turn(mode, &ask([user("Echo hi.")]).after(older.id())).await;

        let input = [user("Echo hi."), call("call_1", "hi"), output(&json!("call_1"), "hi")];
        client.turn(mode, &ask(input).after(older.id())).await;

        let given = [
            "user: My dog is Rex.",
            "assistant: Noted.",
            "user: Echo hi.",
            r#"call echo {"text":"hi"}"#,
            "output: hi",
        ];
        assert_eq!(world.given(), given);
    }
}
