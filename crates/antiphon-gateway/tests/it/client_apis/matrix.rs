//! The same dialogue, for each API of a client and each kind of upstream.

use antiphon_mock::{Api, Reply as Scripted};
use http::StatusCode;
use serde_json::{Value, json};

use super::{ClientApi, Dialogue, Reply, UPSTREAMS, world_of};
use crate::support::{MODES, Mode, SIM, World};

/// The input of the model in the last request.
const WHOLE: [&str; 10] = [
    "user: My color is purple, dog is Biscuit",
    "assistant: Noted.",
    "user: Echo hello twice",
    "reasoning",
    r#"call echo {"text":"hello twice"}"#,
    r#"call echo {"text":"hello twice"}"#,
    "output: one",
    "output: two",
    "assistant: echo said: one; two",
    "user: What is my color and dog name?",
];

/// The number of its items in each request.
const LENGTHS: [usize; 4] = [1, 3, 8, 10];

/// An answer: its text, the number of its calls, and whether it shows reasoning.
type Said = (String, usize, bool);

fn said(reply: &Reply) -> Said {
    (reply.text(), reply.calls().len(), reply.shows_reasoning())
}

/// The answers of the dialogue.
async fn converse(mut dialogue: Dialogue) -> Vec<Said> {
    let mut answers = vec![said(&dialogue.say("My color is purple, dog is Biscuit").await)];
    let called = dialogue.say("Echo hello twice").await;
    answers.push(said(&called));
    if let [first, second] = called.calls()[..] {
        answers.push(said(&dialogue.answer(&[(first, "one"), (second, "two")]).await));
    }
    answers.push(said(&dialogue.say("What is my color and dog name?").await));
    answers
}

#[tokio::test]
async fn every_model_gets_the_same_items() {
    for (upstream, name) in UPSTREAMS {
        for client in ClientApi::ALL {
            for mode in MODES {
                let world = world_of(upstream).await;
                let answers = converse(Dialogue::reasoning(client, &world, mode)).await;
                let row = format!("{client:?} {name:?} {mode:?}");

                let said = |text: &str, calls, reasons| (text.to_owned(), calls, reasons);
                let expected = [
                    said("Noted.", 0, false),
                    said("", 2, true),
                    said("echo said: one; two", 0, false),
                    said("purple, Biscuit", 0, false),
                ];
                assert_eq!(answers, expected, "{row}");
                for (index, length) in LENGTHS.into_iter().enumerate() {
                    assert_eq!(world.request(index).await.api(), Some(name), "{row}");
                    assert_eq!(world.view(index).await, WHOLE[..length], "{row}");
                }
                assert_eq!(world.times_asked(), LENGTHS.len(), "{row}");
            }
        }
    }
}

#[tokio::test]
async fn built_in_model_answers_every_client_alike() {
    let world = World::new().await;
    let with_sim =
        |api: ClientApi, mode| Dialogue::reasoning(api, &world, mode).field("model", SIM.into());
    let expected = converse(with_sim(ClientApi::Responses, Mode::Whole)).await;
    for client in ClientApi::ALL {
        for mode in MODES {
            let answers = converse(with_sim(client, mode)).await;
            assert_eq!(answers, expected, "{client:?} {mode:?}");
        }
    }
}

/// Each client gets the status and the message of the upstream, in the form of its API.
#[tokio::test]
async fn upstream_error_keeps_status_and_message() {
    for (upstream, name) in UPSTREAMS {
        for client in ClientApi::ALL {
            let world = world_of(upstream).await;
            let error = json!({"type": "rate_limit_error", "message": "Slow down."});
            let body: Value = match name {
                Api::Anthropic => json!({"type": "error", "error": error}),
                _ => json!({"error": error}),
            };
            world.script(Scripted::json(StatusCode::TOO_MANY_REQUESTS, &body));
            let sender = client.client(&world);
            let refused = client.post(&sender, Mode::Whole, &client.hello()).await.refused();
            assert_eq!(refused.status, 429, "{client:?} {name:?}");
            assert_eq!(refused.body["error"]["message"], "Slow down.", "{client:?} {name:?}");
            let is_anthropics = refused.body["type"] == "error";
            assert_eq!(is_anthropics, client == ClientApi::Messages, "{client:?} {name:?}");
        }
    }
}
