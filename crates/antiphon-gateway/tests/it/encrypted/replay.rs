//! Reasoning that comes back.

use serde_json::{Value, json};

use crate::support::{MODES, World, ask, call_again, only, output, typed_user};

#[tokio::test]
async fn bare_reasoning_is_sent_as_stored() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let called = client.turn(mode, &ask("Echo hello")).await;
        let id = &called.item("reasoning")["id"];

        let replay = json!([
            typed_user("Echo hello"),
            {"type": "reasoning", "id": id, "summary": []},
            call_again(called.item("function_call")),
            output(called.call_id(), "hello"),
        ]);
        let echoed = client.turn(mode, &ask(replay)).await;

        assert_eq!(echoed.text(), "echo said: hello");
        assert_eq!(echoed.header("antiphon-repairs"), None);
        let request = world.request(1).await;
        assert_eq!(request.verdict, Ok(()));
        let sent = only(request.input(), "reasoning");
        assert!(sent["encrypted_content"].is_string());
        assert_eq!(sent["summary"], called.item("reasoning")["summary"]);
    }
}

#[tokio::test]
async fn stored_reasoning_is_sent_with_every_turn() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).within(&conversation);
        let called = client.turn(mode, &say("Echo hello".into())).await;
        client.turn(mode, &say(json!([output(called.call_id(), "hello")]))).await;
        client.turn(mode, &say("Hello".into())).await;
        for index in [1, 2] {
            let request = world.request(index).await;
            assert_eq!(request.verdict, Ok(()));
            assert!(only(request.input(), "reasoning")["encrypted_content"].is_string());
        }
    }
}

#[tokio::test]
async fn unknown_bare_reasoning_is_dropped() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let replay = json!([
            typed_user("Hello"),
            {"type": "reasoning", "id": "rs_of_elsewhere", "summary": [],
                "encrypted_content": null},
            {"type": "message", "role": "assistant", "content": "Noted."},
            typed_user("Hello"),
        ]);

        let turn = client.turn(mode, &ask(replay)).await;

        assert_eq!(turn.header("antiphon-repairs"), Some("bare_reasoning=1"));
        let repair = &client.report(turn.id()).await["repairs"][0];
        assert_eq!(repair["item_id"], "rs_of_elsewhere");
        assert_eq!(repair["position"], 1);
        assert_eq!(world.view(0).await, ["user: Hello", "assistant: Noted.", "user: Hello"]);
    }
}
