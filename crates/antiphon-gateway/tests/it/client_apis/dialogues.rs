//! The three turns: a fact, a tool, and a question about the fact.

use super::{ClientApi, Dialogue, Reply, UPSTREAMS, world_of};
use crate::support::three_turns::{FACT, QUESTION, TOOL, WHOLE, assert_views};
use crate::support::{MODES, Mode, SIM, World};

/// The ends of an answer with a call, and of one with a text.
fn ends(api: ClientApi) -> (&'static str, &'static str) {
    match api {
        ClientApi::Responses => ("completed", "completed"),
        ClientApi::Chat => ("tool_calls", "stop"),
        ClientApi::Messages => ("tool_use", "end_turn"),
        ClientApi::Gemini => ("STOP", "STOP"),
    }
}

#[tokio::test]
async fn model_gets_the_whole_dialogue() {
    for api in ClientApi::ALL {
        for (upstream, name) in UPSTREAMS {
            for mode in MODES {
                let world = world_of(upstream).await;
                let mut dialogue = Dialogue::reasoning(api, &world, mode);
                let (with_call, with_text) = ends(api);

                assert_eq!(dialogue.say(FACT).await.text(), "Noted.");
                let called = dialogue.say(TOOL).await;
                assert_eq!(called.end(), with_call);
                let echoed = dialogue.answer(&[(called.call(), "hello")]).await;
                assert_eq!((&*echoed.text(), echoed.end()), ("echo said: hello", with_text));
                let recalled = dialogue.say(QUESTION).await;

                assert_eq!(recalled.text(), "purple, Biscuit");
                assert_eq!(recalled.header("antiphon-repairs"), None);
                assert_views(&world, &format!("{api:?} {name:?} {mode:?}")).await;
                for index in 0..world.times_asked() {
                    assert_eq!(world.request(index).await.api(), Some(name));
                }
            }
        }
    }
}

#[tokio::test]
async fn built_in_model_answers() {
    for api in ClientApi::ALL {
        for mode in MODES {
            let world = World::new().await;
            let dialogue = Dialogue::new(api, api.client(&world), mode);
            let mut dialogue = dialogue.field("model", SIM.into());
            dialogue.say("My favorite color is purple.").await;
            let recalled = dialogue.say("What is my favorite color?").await;
            assert!(recalled.text().contains("purple"), "{api:?} {}", recalled.json());
            assert_eq!(recalled.model(), SIM);
        }
    }
}

/// The reasoning of another upstream comes to the client as text and in its sealed form, which goes
/// back to that upstream as it was.
#[tokio::test]
async fn reasoning_comes_back_from_the_client() {
    for api in ClientApi::WITHOUT_STATE {
        for (upstream, name) in api.other_upstreams() {
            for mode in MODES {
                let world = world_of(upstream).await;
                let mut dialogue = Dialogue::reasoning(api, &world, mode);
                let called = dialogue.say(TOOL).await;
                assert_sealed_reasoning(&called);

                let echoed = dialogue.answer(&[(called.call(), "hello")]).await;

                assert_eq!(echoed.text(), "echo said: hello");
                assert_eq!(world.view(1).await, WHOLE[2..6], "{api:?} {name:?}");
            }
        }
    }
}

/// The answer has the text of the reasoning, and its sealed form.
fn assert_sealed_reasoning(reply: &Reply) {
    let text = "The user names a tool, so I call it.";
    match reply {
        Reply::Responses(turn) => assert_ne!(turn.item("reasoning")["encrypted_content"], ""),
        Reply::Chat(completion) => {
            let message = completion.message();
            assert_eq!(message["reasoning_content"], text);
            assert_eq!(message["reasoning_details"][0]["type"], "reasoning.encrypted");
        }
        Reply::Messages(message) => {
            let [thought] = message.blocks("thinking")[..] else {
                panic!("one thinking block: {}", message.json);
            };
            assert_eq!(thought["thinking"], text);
            assert_ne!(thought["signature"], "");
        }
        Reply::Gemini(generation) => {
            assert_eq!(generation.thoughts(), text);
            let called = generation.parts().iter().find(|part| part.get("functionCall").is_some());
            assert!(called.is_some_and(|part| part["thoughtSignature"].is_string()));
        }
    }
}

#[tokio::test]
async fn parallel_calls_are_answered_together() {
    for api in ClientApi::ALL {
        for (upstream, name) in UPSTREAMS {
            for mode in MODES {
                let world = world_of(upstream).await;
                let mut dialogue = Dialogue::reasoning(api, &world, mode);
                let called = dialogue.say("Echo hello twice").await;
                let [first, second] = called.calls()[..] else { panic!("{}", called.json()) };
                assert_ne!(first, second);
                let echoed = dialogue.answer(&[(first, "one"), (second, "two")]).await;
                assert_eq!(echoed.text(), "echo said: one; two", "{api:?} {name:?}");
                assert_eq!(world.last_request().verdict, Ok(()));
            }
        }
    }
}

/// A client may hold the messages of a model that it no longer asks. A server of another API must
/// not get the reasoning that the gateway sealed; Anthropic itself decides about the signatures of
/// its models.
#[tokio::test]
async fn dialogue_moves_to_another_upstream() {
    for api in ClientApi::WITHOUT_STATE {
        for (from, _) in UPSTREAMS {
            for (to, name) in UPSTREAMS.into_iter().filter(|(to, _)| *to != from) {
                let (first, second) = (world_of(from).await, world_of(to).await);
                let mut dialogue = Dialogue::reasoning(api, &first, Mode::Whole);
                dialogue.say(FACT).await;
                let called = dialogue.say(TOOL).await;
                dialogue.answer(&[(called.call(), "hello")]).await;

                dialogue.client = api.client(&second);
                let recalled = dialogue.field("model", "foreign-model".into()).say(QUESTION).await;

                assert_eq!(recalled.text(), "purple, Biscuit", "{api:?} {from:?} to {name:?}");
                let view = second.view(0).await;
                let said = view.iter().filter(|line| *line != "reasoning").cloned();
                let expected = WHOLE.iter().filter(|line| **line != "reasoning");
                assert_eq!(said.collect::<Vec<_>>(), expected.copied().collect::<Vec<_>>());
            }
        }
    }
}
