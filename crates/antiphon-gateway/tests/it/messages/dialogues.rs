//! The three turns: a fact, a tool, and a question about the fact.

use serde_json::{Value, json};

use super::{APIS, Dialogue, OTHER_APIS, client_of, result, world_of};
use crate::support::{MODES, SIM, World};

const FACT: &str = "My color is purple, dog is Biscuit";
const TOOL: &str = "Echo hello";
const QUESTION: &str = "What is my color and dog name?";

/// The input of the model in the last request.
const WHOLE: [&str; 8] = [
    "user: My color is purple, dog is Biscuit",
    "assistant: Noted.",
    "user: Echo hello",
    "reasoning",
    r#"call echo {"text":"hello"}"#,
    "output: hello",
    "assistant: echo said: hello",
    "user: What is my color and dog name?",
];

/// The number of its items in each request.
const LENGTHS: [usize; 4] = [1, 3, 6, 8];

fn thinking() -> Value {
    json!({"type": "enabled", "budget_tokens": 1_024})
}

#[tokio::test]
async fn model_gets_the_whole_dialogue() {
    for (api, name) in APIS {
        for mode in MODES {
            let world = world_of(api).await;
            let mut dialogue = Dialogue::new(client_of(&world), mode).field("thinking", thinking());

            assert_eq!(dialogue.say(FACT).await.text(), "Noted.");
            let called = dialogue.say(TOOL).await;
            assert_eq!(called.stop_reason(), "tool_use");
            let [call] = called.calls()[..] else { panic!("one call: {}", called.json) };
            let call = result(call, "hello");
            let echoed = dialogue.say(json!([call])).await;
            assert_eq!((&*echoed.text(), echoed.stop_reason()), ("echo said: hello", "end_turn"));
            let recalled = dialogue.say(QUESTION).await;

            assert_eq!(recalled.text(), "purple, Biscuit");
            assert_eq!(recalled.header("antiphon-repairs"), None);
            for (index, length) in LENGTHS.into_iter().enumerate() {
                assert_eq!(world.request(index).await.api(), Some(name));
                assert_eq!(world.view(index).await, WHOLE[..length], "{name:?}");
            }
            assert_eq!(world.times_asked(), LENGTHS.len());
        }
    }
}

#[tokio::test]
async fn built_in_model_answers() {
    for mode in MODES {
        let world = World::new().await;
        let mut dialogue = Dialogue::new(client_of(&world), mode).field("model", SIM.into());
        dialogue.say("My favorite color is purple.").await;
        let recalled = dialogue.say("What is my favorite color?").await;
        assert!(recalled.text().contains("purple"), "{}", recalled.json);
        assert_eq!(recalled.json["model"], SIM);
    }
}

/// The thinking of another upstream comes to the client with its seal as the signature, and goes
/// back to that upstream as it was.
#[tokio::test]
async fn thinking_comes_back_from_the_client() {
    for (api, name) in OTHER_APIS {
        for mode in MODES {
            let world = world_of(api).await;
            let mut dialogue = Dialogue::new(client_of(&world), mode).field("thinking", thinking());
            let called = dialogue.say(TOOL).await;
            let [thought] = called.blocks("thinking")[..] else {
                panic!("one thinking block: {}", called.json);
            };
            assert_eq!(thought["thinking"], "The user names a tool, so I call it.");
            assert_ne!(thought["signature"], "");

            let call = result(called.calls()[0], "hello");
            let echoed = dialogue.say(json!([call])).await;

            assert_eq!(echoed.text(), "echo said: hello");
            assert_eq!(world.view(1).await, WHOLE[2..6], "{name:?}");
        }
    }
}

#[tokio::test]
async fn parallel_calls_are_answered_together() {
    for (api, name) in APIS {
        for mode in MODES {
            let world = world_of(api).await;
            let mut dialogue = Dialogue::new(client_of(&world), mode).field("thinking", thinking());
            let called = dialogue.say("Echo hello twice").await;
            let [first, second] = called.calls()[..] else { panic!("two: {}", called.json) };
            assert_ne!(first, second);
            let results = json!([result(first, "one"), result(second, "two")]);
            let echoed = dialogue.say(results).await;
            assert_eq!(echoed.text(), "echo said: one; two", "{name:?}");
            assert_eq!(world.last_request().verdict, Ok(()));
        }
    }
}

/// A client may hold the messages of a model that it no longer asks. Anthropic itself decides
/// about the signatures of its models.
#[tokio::test]
async fn dialogue_moves_to_another_upstream() {
    for (from, _) in APIS {
        for (to, name) in APIS.into_iter().filter(|(to, _)| *to != from) {
            let (first, second) = (world_of(from).await, world_of(to).await);
            let mode = MODES[0];
            let mut dialogue = Dialogue::new(client_of(&first), mode).field("thinking", thinking());
            dialogue.say(FACT).await;
            let called = dialogue.say(TOOL).await;
            let call = result(called.calls()[0], "hello");
            dialogue.say(json!([call])).await;

            dialogue.client = client_of(&second);
            let recalled = dialogue.field("model", "foreign-model".into()).say(QUESTION).await;

            assert_eq!(recalled.text(), "purple, Biscuit", "{from:?} to {name:?}");
            let view = second.view(0).await;
            let said = view.iter().filter(|line| *line != "reasoning").cloned();
            let expected = WHOLE.iter().filter(|line| **line != "reasoning");
            assert_eq!(said.collect::<Vec<_>>(), expected.copied().collect::<Vec<_>>());
        }
    }
}
