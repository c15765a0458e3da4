//! Clients that resend their whole history, with a stored conversation.

use antiphon_mock::{Answer, Reply};
use serde_json::json;

use super::{APIS, Dialogue, PATH, complete, output, user, world_of};
use crate::support::{Client, MODEL, MODES, Mode, SIM, World, lines, soon};

/// A dialogue in a stored conversation, which the header names.
async fn attached(client: Client, mode: Mode) -> (String, Dialogue) {
    let conversation = client.new_conversation().await;
    let named = client.with_header("antiphon-conversation", &conversation);
    (conversation, Dialogue::new(named, mode).field("reasoning_effort", json!("low")))
}

#[tokio::test]
async fn each_item_is_stored_once() {
    for (api, name) in APIS {
        for mode in MODES {
            let world = world_of(api).await;
            let client = world.client();
            let (conversation, mut dialogue) = attached(client.clone(), mode).await;
            dialogue.messages.push(json!({"role": "system", "content": "Be brief."}));

            dialogue.say("My color is purple").await;
            let called = dialogue.say("Echo hello").await;
            dialogue.send(vec![output(called.calls()[0], "hello")]).await;
            let recalled = dialogue.say("What is my color?").await;

            assert_eq!(recalled.text(), "purple");
            assert_eq!(recalled.header("antiphon-repairs"), None, "{name:?} {mode:?}");
            assert_eq!(recalled.header("antiphon-resent"), Some("7"), "{name:?} {mode:?}");
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
            assert_eq!(lines(&client.items(&conversation).await), expected, "{name:?} {mode:?}");
            let view = world.view(3).await;
            let without_system = view.iter().filter(|line| !line.starts_with("system: "));
            assert_eq!(without_system.collect::<Vec<_>>(), expected[..8], "{name:?} {mode:?}");
        }
    }
}

#[tokio::test]
async fn built_in_model_continues_a_conversation() {
    let world = World::new().await;
    let client = world.client();
    let (conversation, dialogue) = attached(client.clone(), Mode::Whole).await;
    let mut dialogue = dialogue.field("model", SIM.into());
    dialogue.say("My favorite color is purple.").await;
    dialogue.say("What is my favorite color?").await;
    assert_eq!(client.items(&conversation).await.len(), 4);
}

#[tokio::test]
async fn metadata_names_the_conversation() {
    for (api, name) in APIS {
        let world = world_of(api).await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let metadata = json!({"conversation": conversation});
        let mut dialogue = Dialogue::new(client.clone(), Mode::Whole).field("metadata", metadata);
        dialogue.say("My color is purple").await;
        dialogue.say("What is my color?").await;

        assert_eq!(client.items(&conversation).await.len(), 4);
        let sent = world.request(1).await;
        assert_eq!(sent.verdict, Ok(()), "{name:?}");
        assert!(!sent.body.to_string().contains(&conversation), "{}", sent.body);
    }
}

#[tokio::test]
async fn new_message_alone_continues_the_conversation() {
    for (api, name) in APIS {
        let world = world_of(api).await;
        let (_, mut dialogue) = attached(world.client(), Mode::Whole).await;
        dialogue.say("My color is purple").await;
        dialogue.messages.clear();
        assert_eq!(dialogue.say("What is my color?").await.text(), "purple", "{name:?}");
    }
}

#[tokio::test]
async fn retry_after_an_abort_doubles_nothing() {
    for (api, name) in APIS {
        for mode in MODES {
            let world = world_of(api).await;
            let client = world.client();
            let (conversation, mut dialogue) = attached(client.clone(), mode).await;
            dialogue.say("My color is purple").await;

            let frames = Answer::new(MODEL).message("Hello there, friend").frames_for(name);
            let exchange = world.script(Reply::sse(frames).hang_after(4));
            let mut request = dialogue.request(vec![user("What is my color?")]);
            if mode == Mode::Streamed {
                request["stream"] = true.into();
                request["stream_options"] = json!({"include_usage": true});
            }
            let asking = dialogue.client.post(PATH, &request);
            tokio::select! {
                _ = asking => panic!("there is no answer yet"),
                () = soon("the upstream waits", exchange.wait_for_sent(4)) => {}
            }
            world.wait_for_disconnect(&exchange).await;

            let again = dialogue.client.clone().with_header("x-stainless-retry-count", "1");
            let recalled = complete(&again, mode, &request).await;
            assert_eq!(recalled.text(), "purple");
            let items = client.items(&conversation).await;
            let said = lines(&items).into_iter().filter(|line| line.starts_with("user: "));
            let expected = ["user: My color is purple", "user: What is my color?"];
            assert_eq!(said.collect::<Vec<_>>(), expected, "{name:?} {mode:?}");
        }
    }
}

#[tokio::test]
async fn unknown_conversation_is_rejected() {
    let world = world_of(APIS[1].0).await;
    let client = world.client().with_header("antiphon-conversation", "conv_none");
    let mut dialogue = Dialogue::new(client.clone(), Mode::Whole);
    let request = dialogue.request(vec![user("Hello")]);
    let refused = client.post(PATH, &request).await.refused();
    assert_eq!(refused.status, 404, "{refused:?}");
    assert_eq!(world.times_asked(), 0);
}
