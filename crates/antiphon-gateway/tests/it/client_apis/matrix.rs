//! The same dialogue, for each API of a client and each kind of upstream.

use antiphon::dialect::UpstreamApi;
use antiphon_mock::{Api, Reply};
use http::StatusCode;
use serde_json::{Value, json};

use super::client::{ClientApi, Dialogue, Said};
use crate::support::{MODEL, MODES, Mode, SIM, World};

/// The upstreams with a strict server.
const UPSTREAMS: [(UpstreamApi, Api); 3] = [
    (UpstreamApi::Responses, Api::Responses),
    (UpstreamApi::Chat, Api::Chat),
    (UpstreamApi::Anthropic, Api::Anthropic),
];

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

async fn world_of(api: UpstreamApi) -> World {
    World::with(|settings| settings.upstreams[0].api = api).await
}

/// The dialogue, and the answers without the ids of calls.
async fn converse(mut dialogue: Dialogue) -> Vec<(String, usize, bool)> {
    let mut answers = vec![dialogue.say("My color is purple, dog is Biscuit").await];
    let called = dialogue.say("Echo hello twice").await;
    if let [first, second] = &called.calls[..] {
        let outputs = [(first.as_str(), "one"), (second.as_str(), "two")];
        answers.extend([called.clone(), dialogue.answer(&outputs).await]);
    } else {
        answers.push(called);
    }
    answers.push(dialogue.say("What is my color and dog name?").await);
    answers.into_iter().map(|Said { text, calls, reasons }| (text, calls.len(), reasons)).collect()
}

#[tokio::test]
async fn every_model_gets_the_same_items() {
    for (upstream, name) in UPSTREAMS {
        for client in ClientApi::ALL {
            for mode in MODES {
                let world = world_of(upstream).await;
                let answers = converse(Dialogue::new(client, &world, mode, MODEL)).await;
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
    let dialogue = || Dialogue::new(ClientApi::Responses, &world, Mode::Whole, SIM);
    let expected = converse(dialogue()).await;
    for client in ClientApi::ALL {
        for mode in MODES {
            let answers = converse(Dialogue::new(client, &world, mode, SIM)).await;
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
            world.script(Reply::json(StatusCode::TOO_MANY_REQUESTS, &body));
            let refused = client.post(&world).await.refused();
            assert_eq!(refused.status, 429, "{client:?} {name:?}");
            assert_eq!(refused.body["error"]["message"], "Slow down.", "{client:?} {name:?}");
            let is_anthropics = refused.body["type"] == "error";
            assert_eq!(is_anthropics, client == ClientApi::Messages, "{client:?} {name:?}");
        }
    }
}
