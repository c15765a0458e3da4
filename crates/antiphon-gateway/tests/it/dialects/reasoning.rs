//! Reasoning is for the model that made it.

use antiphon::stream::ReasoningForm;
use antiphon_gateway::settings::Faults;
use serde_json::{Value, json};

use super::{CHAT, OTHERS, ask_with_reasoning};
use crate::support::{MODES, OTHER_MODEL, PLAIN, World, ask, call, output, user};

const CALLED: [&str; 4] =
    ["user: Echo hello", "reasoning", r#"call echo {"text":"hello"}"#, "output: hello"];

/// What the model thought, as it came back to it with request number `index`.
async fn thought(world: &World, index: usize) -> Value {
    let items = world.request(index).await.items();
    items.iter().find(|item| item["type"] == "reasoning").cloned().unwrap_or_default()
}

#[tokio::test]
async fn reasoning_is_returned_verbatim_to_its_model() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let called = client.turn(mode, &ask_with_reasoning("Echo hello")).await;
            let shown = &called.item("reasoning")["summary"][0];
            assert_eq!(shown["type"], "summary_text");

            let answer = json!([output(called.call_id(), "hello")]);
            client.turn(mode, &ask_with_reasoning(answer).after(called.id())).await;

            assert_eq!(world.view(1).await, CALLED);
            assert_eq!(thought(&world, 1).await["content"][0]["text"], shown["text"]);
        }
    }
}

/// The text in both forms of a reasoning item.
fn shown(item: &Value) -> (Option<&str>, Option<&str>) {
    (item["summary"][0]["text"].as_str(), item["content"][0]["text"].as_str())
}

#[tokio::test]
async fn setting_and_request_decide_the_form() {
    let summary = json!({"effort": "low", "summary": "auto"});
    for dialect in OTHERS {
        for (form, asked, has_summary, has_content) in [
            (ReasoningForm::Summary, ask_with_reasoning("Echo hello"), true, false),
            (ReasoningForm::Content, ask_with_reasoning("Echo hello"), false, true),
            (
                ReasoningForm::Content,
                ask("Echo hello").field("reasoning", summary.clone()),
                true,
                true,
            ),
        ] {
            let world = World::with(|settings| {
                settings.upstreams[0].api = dialect.upstream;
                settings.upstreams[0].reasoning = form;
            })
            .await;
            for mode in MODES {
                let turn = world.client().turn(mode, &asked).await;

                let item = turn.item("reasoning");
                let (summary, content) = shown(item);
                assert_eq!((summary.is_some(), content.is_some()), (has_summary, has_content));
                let names = turn.events.iter().map(|event| event.name.as_str());
                let names: Vec<&str> = names.collect();
                let is_streamed = !names.is_empty();
                for (name, is_sent) in [
                    ("response.reasoning_summary_part.added", has_summary),
                    ("response.reasoning_summary_text.delta", has_summary),
                    ("response.reasoning_summary_text.done", has_summary),
                    ("response.reasoning_summary_part.done", has_summary),
                    ("response.reasoning_text.delta", has_content),
                    ("response.reasoning_text.done", has_content),
                ] {
                    assert_eq!(names.contains(&name), is_sent && is_streamed, "{name}");
                }
            }
        }
    }
}

/// The client resends its items, with the seal and without ids, after the setting has changed.
#[tokio::test]
async fn reasoning_goes_back_after_the_form_changes() {
    for dialect in OTHERS {
        for (before, after) in [
            (ReasoningForm::Summary, ReasoningForm::Content),
            (ReasoningForm::Content, ReasoningForm::Summary),
        ] {
            let mut world = World::with(|settings| {
                settings.upstreams[0].api = dialect.upstream;
                settings.upstreams[0].reasoning = before;
            })
            .await;
            let asked = ask_with_reasoning("Echo hello").encrypted();
            let called = world.client().respond(&asked).await;
            let text = match shown(called.item("reasoning")) {
                (Some(text), None) | (None, Some(text)) => text.to_owned(),
                both => panic!("one form was expected: {both:?}"),
            };
            world.restart_with(|settings| settings.upstreams[0].reasoning = after).await;

            let answer = json!([output(called.call_id(), "hello")]);
            world.client().respond(&ask_with_reasoning(answer).after(called.id())).await;
            let mut replay = vec![json!({"role": "user", "content": "Echo hello"})];
            replay.extend_from_slice(called.output());
            replay.push(output(called.call_id(), "hello"));
            world.client().respond(&ask_with_reasoning(replay).unstored()).await;

            for index in [1, 2] {
                assert_eq!(world.view(index).await, CALLED);
                assert_eq!(thought(&world, index).await["content"][0]["text"], text);
            }
        }
    }
}

#[tokio::test]
async fn seal_is_shown_only_on_request() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let plain = client.turn(mode, &ask_with_reasoning("Echo hello")).await;
            let sealed = client.turn(mode, &ask_with_reasoning("Echo hello").encrypted()).await;
            assert_eq!(plain.item("reasoning")["encrypted_content"], json!(null));
            assert!(sealed.item("reasoning")["encrypted_content"].is_string());
        }
    }
}

#[tokio::test]
async fn reasoning_goes_back_only_to_its_model() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            let say = |input: Value| ask_with_reasoning(input).within(&conversation);
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
async fn stateless_replay_to_another_model_drops_reasoning() {
    for dialect in OTHERS {
        let world = dialect.world().await;
        let client = world.client();
        let called = client.respond(&ask_with_reasoning("Echo hello").unstored().encrypted()).await;

        let mut replay = vec![json!({"role": "user", "content": "Echo hello"})];
        replay.extend_from_slice(called.output());
        replay.push(output(called.call_id(), "hello"));
        replay.push(json!({"role": "user", "content": "Hello"}));
        let next = client.respond(&ask(replay).model(OTHER_MODEL).unstored()).await;

        assert_eq!(next.text(), "Noted.");
        assert_eq!(world.view(1).await, [CALLED[0], CALLED[2], CALLED[3], "user: Hello"],);
        assert_ne!(next.header("antiphon-repairs"), None);
    }
}

#[tokio::test]
async fn responses_upstream_gets_no_foreign_seal() {
    for dialect in OTHERS {
        let maker = dialect.world().await;
        let asked = ask_with_reasoning("Echo hello").encrypted().unstored();
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

/// The second step of a tool loop, by a client that dropped the reasoning.
fn without_reasoning() -> Value {
    json!([user("Echo hello"), call("call_1", "hello"), output(&json!("call_1"), "hello")])
}

#[tokio::test]
async fn lost_reasoning_gets_a_placeholder() {
    for mode in MODES {
        let world = CHAT.world().await;
        let client = world.client();

        for asked in [2, 3] {
            let echoed = client.turn(mode, &ask(without_reasoning())).await;

            assert_eq!(echoed.text(), "echo said: hello");
            assert_eq!(echoed.header("antiphon-repairs"), Some("missing_reasoning=1"));
            assert_eq!(client.report(echoed.id()).await["repairs"][0]["action"], "stood_in");
            assert_eq!(world.times_asked(), asked, "the server's wish is remembered");
            assert_eq!(world.last_request().verdict, Ok(()));
        }
    }
}

#[tokio::test]
async fn server_without_reasoning_support_gets_none() {
    let world = CHAT.world().await;
    let echoed = world.client().respond(&ask(without_reasoning()).model(PLAIN)).await;
    assert_eq!(echoed.header("antiphon-repairs"), None);
    assert!(!world.last_request().body.to_string().contains("reasoning_content"));
}

#[tokio::test]
async fn rejection_passes_without_repairs() {
    let world = World::with(|settings| {
        settings.upstreams[0].api = CHAT.upstream;
        settings.faults = Faults::Reject;
    })
    .await;
    for mode in MODES {
        let refused = world.client().refused(mode, &ask(without_reasoning())).await;
        assert_eq!(refused.status, 400);
        assert!(refused.body["error"]["message"].to_string().contains("reasoning_content"));
    }
}
