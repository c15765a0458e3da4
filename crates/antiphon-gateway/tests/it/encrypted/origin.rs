//! Reasoning is for the model that made it.

use serde_json::{Value, json};

use crate::support::{MODEL, MODES, OTHER_MODEL, SIM, World, ask, output};

const CALLED: [&str; 4] =
    ["user: Echo hello", "reasoning", r#"call echo {"text":"hello"}"#, "output: hello"];

#[tokio::test]
async fn reasoning_goes_back_only_to_its_model() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value, model: &str| ask(input).model(model).within(&conversation);
        let called = client.turn(mode, &say("Echo hello".into(), MODEL)).await;

        let answer = json!([output(called.call_id(), "hello")]);
        let echoed = client.turn(mode, &say(answer, OTHER_MODEL)).await;

        assert_eq!(echoed.text(), "echo said: hello");
        assert_eq!(
            echoed.header("antiphon-repairs"),
            Some("foreign_reasoning=1, missing_reasoning=1")
        );
        assert_eq!(world.view(1).await, [CALLED[0], CALLED[2], CALLED[3]]);
        let repair = &client.report(echoed.id()).await["repairs"][0];
        assert_eq!(repair["item_id"], called.item("reasoning")["id"]);
        assert_eq!(repair["action"], "dropped");

        let back = client.turn(mode, &say("Hello".into(), MODEL)).await;

        assert_eq!(back.header("antiphon-repairs"), None);
        assert_eq!(world.view(2).await[..4], CALLED);
        assert_eq!(client.items(&conversation).await.len(), 7);
    }
}

#[tokio::test]
async fn built_in_model_and_upstream_share_a_conversation() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value, model: &str| ask(input).model(model).within(&conversation);
        let called = client.turn(mode, &say("Echo hello".into(), SIM)).await;
        assert_eq!(called.output().len(), 2);

        let answer = json!([output(called.call_id(), "hello")]);
        let echoed = client.turn(mode, &say(answer, MODEL)).await;

        assert_eq!(echoed.text(), "echo said: hello");
        assert_eq!(
            echoed.header("antiphon-repairs"),
            Some("foreign_reasoning=1, missing_reasoning=1")
        );
        assert_eq!(world.view(0).await, [CALLED[0], CALLED[2], CALLED[3]]);

        let called = client.turn(mode, &say("Echo again".into(), MODEL)).await;
        let answer = json!([output(called.call_id(), "again")]);
        let returned = client.turn(mode, &say(answer, SIM)).await;
        assert_eq!(returned.text(), "echo returned: again");
    }
}

#[tokio::test]
async fn replayed_foreign_reasoning_is_known_by_id() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let called = client.turn(mode, &ask("Echo hello").encrypted()).await;

        let mut replay = vec![json!({"role": "user", "content": "Echo hello"})];
        replay.extend_from_slice(called.output());
        replay.push(output(called.call_id(), "hello"));
        let echoed = client.turn(mode, &ask(replay).model(OTHER_MODEL)).await;

        assert_eq!(
            echoed.header("antiphon-repairs"),
            Some("foreign_reasoning=1, missing_reasoning=1")
        );
        assert_eq!(world.view(1).await, [CALLED[0], CALLED[2], CALLED[3]]);
    }
}
