//! Agent Framework replays a conversation beside the state that the provider keeps: no ids at all,
//! calls and reasoning left out, outputs again.

use antiphon_mock::Answer;
use serde_json::json;

use super::world::World;
use crate::support::{MODEL, MODES, ask, assistant, output, reference, typed_user};

#[tokio::test]
async fn replay_without_ids_sends_only_new_items() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let client = world.client();
        client.turn(mode, &ask([typed_user("One.")]).within(&conversation)).await;
        world.provider.script(Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#));
        client.turn(mode, &ask([typed_user("Echo hi.")]).within(&conversation)).await;
        let output = output(&json!("call_1"), "hi");
        world.provider.script(Answer::new(MODEL).message("It says hi."));
        client.turn(mode, &ask([output.clone()]).within(&conversation)).await;

        let replay = [
            typed_user("One."),
            assistant("Noted."),
            typed_user("Echo hi."),
            output,
            assistant("It says hi."),
            typed_user("Thanks."),
        ];
        client.turn(mode, &ask(replay).within(&conversation)).await;
        assert_eq!(world.sent(), ["user: Thanks."]);
    }
}

#[tokio::test]
async fn references_to_stored_items_are_not_resent() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let first = ask([typed_user("One.")]).within(&conversation);
        let first = world.client().turn(mode, &first).await;
        let replay =
            [typed_user("One."), reference(&first.item("message")["id"]), typed_user("Two.")];
        world.client().turn(mode, &ask(replay).within(&conversation)).await;
        assert_eq!(world.sent(), ["user: Two."]);
    }
}

#[tokio::test]
async fn unknown_references_go_to_the_provider() {
    for mode in MODES {
        let world = World::new().await;
        world.provider.script(Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#));
        let elsewhere = world.past_gateway().respond(&ask([typed_user("Echo hi.")])).await;

        let conversation = world.conversation().await;
        let call = reference(&elsewhere.item("function_call")["id"]);
        let input = [typed_user("Echo hi."), call, output(&json!("call_1"), "hi")];
        world.client().turn(mode, &ask(input).within(&conversation)).await;
        world.client().turn(mode, &ask([typed_user("Thanks.")]).within(&conversation)).await;

        let given = world.given();
        assert_eq!(given[..3], ["user: Echo hi.", r#"call echo {"text":"hi"}"#, "output: hi"]);
        assert_eq!(given.last().map(String::as_str), Some("user: Thanks."));
    }
}
