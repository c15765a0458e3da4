//! The three turns: a fact, a tool, and a question about the fact.

use serde_json::json;

use super::{APIS, Dialogue, OTHER_APIS, output, world_of};
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

#[tokio::test]
async fn model_gets_the_whole_dialogue() {
    for (api, name) in APIS {
        for mode in MODES {
            let world = world_of(api).await;
            let mut dialogue =
                Dialogue::new(world.client(), mode).field("reasoning_effort", json!("low"));

            assert_eq!(dialogue.say(FACT).await.text(), "Noted.");
            let called = dialogue.say(TOOL).await;
            assert_eq!(called.finish_reason(), "tool_calls");
            let [call] = called.calls()[..] else { panic!("one call: {}", called.json) };
            let echoed = dialogue.send(vec![output(call, "hello")]).await;
            assert_eq!((echoed.text(), echoed.finish_reason()), ("echo said: hello", "stop"));
            let recalled = dialogue.say(QUESTION).await;

            assert_eq!(recalled.text(), "purple, Biscuit");
            assert_eq!(recalled.header("antiphon-repairs"), None);
            for (index, length) in LENGTHS.into_iter().enumerate() {
                assert_eq!(world.request(index).await.api(), Some(name));
                assert_eq!(world.view(index).await, WHOLE[..length], "{name:?} {mode:?}");
            }
            assert_eq!(world.times_asked(), LENGTHS.len());
        }
    }
}

#[tokio::test]
async fn built_in_model_answers() {
    for mode in MODES {
        let world = World::new().await;
        let mut dialogue = Dialogue::new(world.client(), mode).field("model", SIM.into());
        dialogue.say("My favorite color is purple.").await;
        let recalled = dialogue.say("What is my favorite color?").await;
        assert!(recalled.text().contains("purple"), "{}", recalled.json);
        assert_eq!(recalled.json["model"], SIM);
    }
}

/// The reasoning of another upstream comes to the client as text and in its sealed form, which goes
/// back to that upstream as it was.
#[tokio::test]
async fn reasoning_comes_back_from_the_client() {
    for (api, name) in OTHER_APIS {
        for mode in MODES {
            let world = world_of(api).await;
            let mut dialogue =
                Dialogue::new(world.client(), mode).field("reasoning_effort", json!("low"));
            let called = dialogue.say(TOOL).await;
            let message = called.message();
            assert_eq!(message["reasoning_content"], "The user names a tool, so I call it.");
            assert_eq!(message["reasoning_details"][0]["type"], "reasoning.encrypted");

            let call = output(called.calls()[0], "hello");
            let echoed = dialogue.send(vec![call]).await;

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
            let mut dialogue =
                Dialogue::new(world.client(), mode).field("reasoning_effort", json!("low"));
            let called = dialogue.say("Echo hello twice").await;
            let [first, second] = called.calls()[..] else { panic!("two: {}", called.json) };
            assert_ne!(first, second);
            let outputs = vec![output(first, "one"), output(second, "two")];
            let echoed = dialogue.send(outputs).await;
            assert_eq!(echoed.text(), "echo said: one; two", "{name:?}");
            assert_eq!(world.last_request().verdict, Ok(()));
        }
    }
}

/// A client may hold the messages of a model that it no longer asks. A server of Chat Completions
/// must not get the reasoning that the gateway sealed.
#[tokio::test]
async fn dialogue_moves_to_another_upstream() {
    for (from, _) in APIS {
        for (to, name) in APIS.into_iter().filter(|(to, _)| *to != from) {
            let (first, second) = (world_of(from).await, world_of(to).await);
            let mut dialogue =
                Dialogue::new(first.client(), MODES[0]).field("reasoning_effort", json!("low"));
            dialogue.say(FACT).await;
            let called = dialogue.say(TOOL).await;
            let call = output(called.calls()[0], "hello");
            dialogue.send(vec![call]).await;

            dialogue.client = second.client();
            let recalled = dialogue.field("model", "foreign-model".into()).say(QUESTION).await;

            assert_eq!(recalled.text(), "purple, Biscuit", "{from:?} to {name:?}");
            let view = second.view(0).await;
            let said = view.iter().filter(|line| *line != "reasoning").cloned();
            let expected = WHOLE.iter().filter(|line| **line != "reasoning");
            assert_eq!(said.collect::<Vec<_>>(), expected.copied().collect::<Vec<_>>());
        }
    }
}
