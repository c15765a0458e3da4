//! Clients that resend their whole history, with a stored conversation.

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use super::{APIS, Dialogue, assistant, client_of, create, request, result, user, world_of};
use crate::support::{Client, MODEL, MODES, Mode, SIM, World, lines, soon};

/// A dialogue in a stored conversation, which the header names.
async fn attached(client: Client, mode: Mode) -> (String, Dialogue) {
    let conversation = client.new_conversation().await;
    let named = client.with_header("antiphon-conversation", &conversation);
    (conversation, Dialogue::new(named, mode))
}

fn thinking() -> Value {
    json!({"type": "enabled", "budget_tokens": 1_024})
}

#[tokio::test]
async fn each_item_is_stored_once() {
    for (api, name) in APIS {
        for mode in MODES {
            let world = world_of(api).await;
            let client = client_of(&world);
            let (conversation, dialogue) = attached(client.clone(), mode).await;
            let mut dialogue = dialogue
                .field("thinking", thinking())
                .field("system", json!([{"type": "text", "text": "Be brief."}]));

            dialogue.say("My color is purple").await;
            let called = dialogue.say("Echo hello").await;
            let echoed = result(called.calls()[0], "hello");
            dialogue.say(json!([echoed])).await;
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
            assert_eq!(world.view(3).await, expected[..8], "{name:?} {mode:?}");
        }
    }
}

#[tokio::test]
async fn built_in_model_continues_a_conversation() {
    let world = World::new().await;
    let client = client_of(&world);
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
        let client = client_of(&world);
        let conversation = client.new_conversation().await;
        let metadata = json!({"conversation": conversation, "user_id": "u"});
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
        let client = client_of(&world);
        let (_, mut dialogue) = attached(client, Mode::Whole).await;
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
            let client = client_of(&world);
            let (conversation, mut dialogue) = attached(client.clone(), mode).await;
            dialogue.say("My color is purple").await;

            let frames = Answer::new(MODEL).message("Hello there, friend").frames_for(name);
            let exchange = world.script(Reply::sse(frames).hang_after(4));
            let mut request = dialogue.request("What is my color?");
            request["stream"] = (mode == Mode::Streamed).into();
            let asking = dialogue.client.post("/v1/messages", &request);
            tokio::select! {
                _ = asking => panic!("there is no answer yet"),
                () = soon("the upstream waits", exchange.wait_for_sent(4)) => {}
            }
            world.wait_for_disconnect(&exchange).await;

            let again = dialogue.client.clone().with_header("x-stainless-retry-count", "1");
            let recalled = create(&again, mode, &request).await;
            assert_eq!(recalled.text(), "purple");
            let items = client.items(&conversation).await;
            let said = lines(&items).into_iter().filter(|line| line.starts_with("user: "));
            let expected = ["user: My color is purple", "user: What is my color?"];
            assert_eq!(said.collect::<Vec<_>>(), expected, "{name:?} {mode:?}");
        }
    }
}

/// A repair of an attached turn is in its report.
#[tokio::test]
async fn report_lists_faults_and_omissions() {
    let world = world_of(APIS[2].0).await;
    let client = client_of(&world);
    let conversation = client.new_conversation().await;
    let named = client.clone().with_header("antiphon-conversation", &conversation);
    let mut asked = request(&json!([user("Hello"), assistant("Well, ")]));
    asked["context_management"] = json!({"edits": []});
    let answer = create(&named, Mode::Whole, &asked).await;
    let repairs = answer.header("antiphon-repairs").expect("there are repairs");
    assert_eq!(repairs, "adapted_field=1, trailing_whitespace=1");
    let report = client.report(answer.header("antiphon-response").expect("it is stored")).await;
    assert_eq!(report["repairs"][0]["fault"], "trailing_whitespace");
    assert_eq!(report["repairs"][0]["action"], "trimmed");
    assert_eq!(report["adapted_fields"][0]["field"], "context_management");
}
