//! What the provider would refuse is mended in the request itself.

use antiphon_mock::Answer;
use serde_json::json;

use super::world::World;
use crate::support::{MODEL, MODES, ask, output, typed_user};

const SILENCE: &str = "output: No output was recorded for this call.";

#[tokio::test]
async fn unanswered_call_gets_one_placeholder() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let client = world.client();
        world.provider.script(Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#));
        client.turn(mode, &ask([typed_user("Echo hi.")]).within(&conversation)).await;

        let mended =
            client.turn(mode, &ask([typed_user("Never mind.")]).within(&conversation)).await;
        assert_eq!(world.sent(), [SILENCE, "user: Never mind."]);
        assert_eq!(mended.header("antiphon-repairs"), Some("unanswered_call=1"));

        let well = client.turn(mode, &ask([typed_user("Thanks.")]).within(&conversation)).await;
        assert_eq!(world.sent(), ["user: Thanks."]);
        assert_eq!(well.header("antiphon-repairs"), None);
    }
}

#[tokio::test]
async fn unanswered_parallel_call_gets_a_placeholder() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let calls = Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#).call(
            "call_2",
            "echo",
            r#"{"text":"ho"}"#,
        );
        world.provider.script(calls);
        let client = world.client();
        client.turn(mode, &ask([typed_user("Echo both.")]).within(&conversation)).await;
        let one = ask([output(&json!("call_1"), "hi")]).within(&conversation);
        client.turn(mode, &one).await;
        assert_eq!(world.sent(), [SILENCE, "output: hi"]);
        assert_eq!(world.last_turn().input()[0]["call_id"], "call_2");
    }
}

#[tokio::test]
async fn call_gets_a_placeholder_in_every_branch() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        world.provider.script(Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#));
        let called = client.turn(mode, &ask([typed_user("Echo hi.")])).await;
        for reply in ["One.", "Two."] {
            client.turn(mode, &ask([typed_user(reply)]).after(called.id())).await;
            assert_eq!(world.sent(), [SILENCE, &format!("user: {reply}")]);
        }
    }
}

#[tokio::test]
async fn output_of_an_unknown_call_gets_an_error() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let stray = ask([output(&json!("call_9"), "hi")]).within(&conversation);
        let refused = world.client().refused(mode, &stray).await;
        let message = "No tool call found for function call output with call_id call_9.";
        assert_eq!(refused.body["error"]["message"], message);
    }
}

#[tokio::test]
async fn approval_of_an_unknown_request_goes_through() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let approval = json!({
            "type": "mcp_approval_response", "approval_request_id": "mcpr_9", "approve": true,
        });
        world.client().turn(mode, &ask([approval.clone()]).within(&conversation)).await;
        assert_eq!(world.last_turn().input(), [approval]);
    }
}

#[tokio::test]
async fn item_without_its_id_is_sent_with_one_and_once() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let search = json!({"type": "web_search_call", "status": "completed"});
        let reply = json!({"role": "assistant", "content": "Found."});
        let history = [typed_user("Search."), search, reply, typed_user("Thanks.")];
        let first = ask(history.clone()).within(&conversation);
        let told = world.client().turn(mode, &first).await;
        assert_eq!(told.header("antiphon-repairs"), Some("missing_id=1"));
        let id = world.last_turn().input()[1]["id"].clone();
        assert!(id.as_str().is_some_and(|id| id.starts_with("ws_")), "{id}");

        let said = json!({"role": "assistant", "content": told.text()});
        let again = [&history[..], &[said, typed_user("Bye.")]].concat();
        world.client().turn(mode, &ask(again).within(&conversation)).await;
        assert_eq!(world.sent(), ["user: Bye."]);
    }
}
