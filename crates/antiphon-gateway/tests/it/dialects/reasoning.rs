//! Reasoning is for the model that made it.

use serde_json::{Value, json};

use super::{OTHERS, ask_to_think};
use crate::support::{FOREIGN, MODES, World, ask, output};

const CALLED: [&str; 4] =
    ["user: Echo hello", "reasoning", r#"call echo {"text":"hello"}"#, "output: hello"];

/// What the model thought, as it came back to it with request number `index`.
async fn thought(world: &World, index: usize) -> Value {
    let items = world.request(index).await.items();
    items.iter().find(|item| item["type"] == "reasoning").cloned().unwrap_or_default()
}

#[tokio::test]
async fn its_maker_gets_it_back_word_by_word() {
    for spoken in OTHERS {
        for mode in MODES {
            let world = spoken.world().await;
            let client = world.client();
            let called = client.turn(mode, &ask_to_think("Echo hello")).await;
            let text = &called.item("reasoning")["content"][0];
            assert_eq!(text["type"], "reasoning_text");

            let answer = json!([output(called.call_id(), "hello")]);
            client.turn(mode, &ask_to_think(answer).after(called.id())).await;

            assert_eq!(world.view(1).await, CALLED);
            assert_eq!(thought(&world, 1).await["content"][0], *text);
        }
    }
}

#[tokio::test]
async fn callers_see_the_seal_where_they_ask_for_it_alone() {
    for spoken in OTHERS {
        for mode in MODES {
            let world = spoken.world().await;
            let client = world.client();
            let plain = client.turn(mode, &ask_to_think("Echo hello")).await;
            let sealed = client.turn(mode, &ask_to_think("Echo hello").encrypted()).await;
            assert_eq!(plain.item("reasoning")["encrypted_content"], json!(null));
            assert!(sealed.item("reasoning")["encrypted_content"].is_string());
        }
    }
}

#[tokio::test]
async fn another_model_is_not_given_it_and_its_own_gets_it_back() {
    for spoken in OTHERS {
        for mode in MODES {
            let world = spoken.world().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            let say = |input: Value| ask_to_think(input).within(&conversation);
            let called = client.turn(mode, &say("Echo hello".into())).await;

            // A model that reasons would need its own reasoning there.
            let answer = json!([output(called.call_id(), "hello")]);
            let other = ask(answer).model("plain-model").within(&conversation);
            let echoed = client.turn(mode, &other).await;

            assert_eq!(echoed.text(), "echo said: hello");
            let repairs = echoed.header("antiphon-repairs").unwrap_or_default();
            assert!(repairs.contains("foreign_reasoning=1"), "{repairs}");
            assert_eq!(world.view(1).await, [CALLED[0], CALLED[2], CALLED[3]]);
            let repair = &client.report(echoed.id()).await["repairs"][0];
            assert_eq!(repair["item_id"], called.item("reasoning")["id"]);
            assert_eq!(repair["action"], "dropped");

            let back = client.turn(mode, &say("Hello".into())).await;

            assert_eq!(back.header("antiphon-repairs"), None);
            assert_eq!(world.view(2).await[..4], CALLED);
        }
    }
}

#[tokio::test]
async fn a_stateless_replay_to_another_model_leaves_it_out() {
    for spoken in OTHERS {
        let world = spoken.world().await;
        let client = world.client();
        let called = client.respond(&ask_to_think("Echo hello").unstored().encrypted()).await;

        let mut replay = vec![json!({"role": "user", "content": "Echo hello"})];
        replay.extend_from_slice(called.output());
        replay.push(output(called.call_id(), "hello"));
        replay.push(json!({"role": "user", "content": "Hello"}));
        let next = client.respond(&ask(replay).model(FOREIGN).unstored()).await;

        assert_eq!(next.text(), "Noted.");
        assert_eq!(world.view(1).await, [CALLED[0], CALLED[2], CALLED[3], "user: Hello"],);
        assert_ne!(next.header("antiphon-repairs"), None);
    }
}

#[tokio::test]
async fn a_responses_upstream_is_not_given_what_others_sealed() {
    for spoken in OTHERS {
        let maker = spoken.world().await;
        let asked = ask_to_think("Echo hello").encrypted().unstored();
        let called = maker.client().respond(&asked).await;
        let mut replay = vec![json!({"role": "user", "content": "Echo hello"})];
        replay.extend_from_slice(called.output());
        replay.push(output(called.call_id(), "hello"));
        let world = World::new().await;

        let echoed = world.client().respond(&ask(replay).unstored()).await;

        assert_eq!(echoed.text(), "echo said: hello");
        assert_eq!(world.view(0).await, [CALLED[0], CALLED[2], CALLED[3]]);
    }
}
