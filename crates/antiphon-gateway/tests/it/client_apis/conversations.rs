//! Clients that resend their whole history, with a stored conversation.

use antiphon_mock::{Answer, Reply as Scripted};
use serde_json::json;

use super::{ClientApi, Dialogue, UPSTREAMS, world_of};
use crate::support::{Client, MODEL, MODES, Mode, SIM, World, lines, soon};

/// A dialogue in a stored conversation, which the header names.
async fn attached(api: ClientApi, client: Client, mode: Mode) -> (String, Dialogue) {
    let conversation = client.new_conversation().await;
    let named = client.with_header("antiphon-conversation", &conversation);
    (conversation, Dialogue::new(api, named, mode))
}

/// The same dialogue with instructions for the model.
fn instructed(mut dialogue: Dialogue) -> Dialogue {
    if dialogue.api == ClientApi::Messages {
        return dialogue.field("system", json!([{"type": "text", "text": "Be brief."}]));
    }
    if dialogue.api == ClientApi::Gemini {
        return dialogue.field("systemInstruction", json!({"parts": [{"text": "Be brief."}]}));
    }
    dialogue.history.push(json!({"role": "system", "content": "Be brief."}));
    dialogue
}

#[tokio::test]
async fn each_item_is_stored_once() {
    for api in ClientApi::WITHOUT_STATE {
        for (upstream, name) in UPSTREAMS {
            for mode in MODES {
                let world = world_of(upstream).await;
                let client = api.client(&world);
                let (conversation, dialogue) = attached(api, client.clone(), mode).await;
                let mut dialogue = instructed(dialogue.with_reasoning());

                dialogue.say("My color is purple").await;
                let called = dialogue.say("Echo hello").await;
                dialogue.answer(&[(called.call(), "hello")]).await;
                let recalled = dialogue.say("What is my color?").await;

                let row = format!("{api:?} {name:?} {mode:?}");
                assert_eq!(recalled.text(), "purple");
                assert_eq!(recalled.header("antiphon-repairs"), None, "{row}");
                assert_eq!(recalled.header("antiphon-resent"), Some("7"), "{row}");
                let expected = [
                    "user: My color is purple",
                    "assistant: Noted.",
                    "user: Echo hello",
                    "reasoning",
                    r#"call echo {"text":"hello"}"#,
                    "output: hello",
                    "assistant: echo said: hello",
                    "user: What is my color?",
                    "assistant: purple",
                ];
                assert_eq!(lines(&client.items(&conversation).await), expected, "{row}");
                let mut view = world.view(3).await;
                // Only a client of Chat Completions sends its instructions as a message.
                view.retain(|line| api != ClientApi::Chat || !line.starts_with("system: "));
                assert_eq!(view, expected[..8], "{row}");
            }
        }
    }
}

#[tokio::test]
async fn built_in_model_continues_a_conversation() {
    for api in ClientApi::WITHOUT_STATE {
        let world = World::new().await;
        let client = api.client(&world);
        let (conversation, dialogue) = attached(api, client.clone(), Mode::Whole).await;
        let mut dialogue = dialogue.field("model", SIM.into());
        dialogue.say("My favorite color is purple.").await;
        dialogue.say("What is my favorite color?").await;
        assert_eq!(client.items(&conversation).await.len(), 4, "{api:?}");
    }
}

#[tokio::test]
async fn metadata_names_the_conversation() {
    for api in ClientApi::WITHOUT_STATE {
        for (upstream, name) in UPSTREAMS {
            let world = world_of(upstream).await;
            let client = api.client(&world);
            let conversation = client.new_conversation().await;
            let mut metadata = json!({"conversation": conversation});
            if api == ClientApi::Messages {
                metadata["user_id"] = "u".into();
            }
            let dialogue = Dialogue::new(api, client.clone(), Mode::Whole);
            let mut dialogue = dialogue.field("metadata", metadata);
            dialogue.say("My color is purple").await;
            dialogue.say("What is my color?").await;

            assert_eq!(client.items(&conversation).await.len(), 4);
            let sent = world.request(1).await;
            assert_eq!(sent.verdict, Ok(()), "{api:?} {name:?}");
            assert!(!sent.body.to_string().contains(&conversation), "{}", sent.body);
        }
    }
}

#[tokio::test]
async fn new_message_alone_continues_the_conversation() {
    for api in ClientApi::WITHOUT_STATE {
        for (upstream, name) in UPSTREAMS {
            let world = world_of(upstream).await;
            let (_, mut dialogue) = attached(api, api.client(&world), Mode::Whole).await;
            dialogue.say("My color is purple").await;
            dialogue.history.clear();
            let recalled = dialogue.say("What is my color?").await;
            assert_eq!(recalled.text(), "purple", "{api:?} {name:?}");
        }
    }
}

#[tokio::test]
async fn retry_after_an_abort_doubles_nothing() {
    for api in ClientApi::WITHOUT_STATE {
        for (upstream, name) in UPSTREAMS {
            for mode in MODES {
                let world = world_of(upstream).await;
                let client = api.client(&world);
                let (conversation, mut dialogue) = attached(api, client.clone(), mode).await;
                dialogue.say("My color is purple").await;

                let frames = Answer::new(MODEL).message("Hello there, friend").frames_for(name);
                let exchange = world.script(Scripted::sse(frames).hang_after(4));
                let request = dialogue.request_to_say("What is my color?");
                tokio::select! {
                    _ = api.post(&dialogue.client, mode, &request) => {
                        panic!("there is no answer yet")
                    }
                    () = soon("the upstream waits", exchange.wait_for_sent(4)) => {}
                }
                world.wait_for_disconnect(&exchange).await;

                let again = dialogue.client.clone().with_header("x-stainless-retry-count", "1");
                let recalled = api.send(&again, mode, &request).await;
                assert_eq!(recalled.text(), "purple");
                let items = client.items(&conversation).await;
                let said = lines(&items).into_iter().filter(|line| line.starts_with("user: "));
                let expected = ["user: My color is purple", "user: What is my color?"];
                assert_eq!(said.collect::<Vec<_>>(), expected, "{api:?} {name:?} {mode:?}");
            }
        }
    }
}

#[tokio::test]
async fn unknown_conversation_is_not_found() {
    for api in ClientApi::WITHOUT_STATE {
        for (upstream, _) in UPSTREAMS {
            let world = world_of(upstream).await;
            let client = api.client(&world);
            let in_header = client.clone().with_header("antiphon-conversation", "conv_unknown");
            let named = api.post(&in_header, Mode::Whole, &api.hello()).await.refused();
            assert_eq!(named.status, 404, "{api:?} {named:?}");
            let message = named.body["error"]["message"].as_str().expect("it is text");
            assert!(message.contains("conv_unknown"), "{message}");

            let mut in_metadata = api.hello();
            in_metadata["metadata"] = json!({"conversation": "conv_unknown"});
            let refused = api.post(&client, Mode::Whole, &in_metadata).await.refused();
            assert_eq!((refused.status, &refused.body["error"]), (404, &named.body["error"]));
            if api == ClientApi::Messages {
                assert_eq!(named.body["error"]["type"], "not_found_error");
            }
            assert_eq!(world.times_asked(), 0);
        }
    }
}

/// Neither of the two wins silently.
#[tokio::test]
async fn header_that_contradicts_the_metadata_is_refused() {
    for api in ClientApi::WITHOUT_STATE {
        for (upstream, name) in UPSTREAMS {
            let world = world_of(upstream).await;
            let (conversation, dialogue) = attached(api, api.client(&world), Mode::Whole).await;
            let post = async |id: &str| {
                let mut request = api.hello();
                request["metadata"] = json!({"conversation": id});
                api.post(&dialogue.client, Mode::Whole, &request).await
            };

            let refused = post("conv_other").await.refused();
            let message = format!(
                "The header 'Antiphon-Conversation' names the conversation '{conversation}', but \
                 the body names 'conv_other'. Send one of them, or the same id in both."
            );
            assert_eq!(refused.status, 400, "{api:?} {name:?}");
            assert_eq!(refused.body["error"]["message"], message, "{api:?} {name:?}");
            assert_eq!(world.times_asked(), 0);
            assert_eq!(post(&conversation).await.status(), 200, "{api:?} {name:?}");
        }
    }
}
