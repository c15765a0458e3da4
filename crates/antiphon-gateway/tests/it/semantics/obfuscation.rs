//! `stream_options.include_obfuscation`: what hides how long the pieces of an answer are.

use antiphon_mock::{Answer, Frame, Reply};
use serde_json::{Value, json};

use super::{APIS, RESPONSES};
use crate::support::{Ask, Event, MODEL, MODES, Mode, Turn, ask, invalid};

fn with_obfuscation(include: impl Into<Value>) -> Ask {
    ask("Hello").field("stream_options", json!({"include_obfuscation": include.into()}))
}

fn is_delta(kind: &str) -> bool {
    kind.rsplit('.').next() == Some("delta")
}

fn deltas(turn: &Turn) -> Vec<&Event> {
    turn.events.iter().filter(|event| is_delta(&event.name)).collect()
}

fn answer() -> Answer {
    let long = "This is longer than sixteen letters.";
    Answer::new(MODEL).message(long).call("call_1", "echo", r#"{"text":"hello"}"#)
}

/// The answer as a provider streams it that pads by itself.
fn padded_by_the_upstream() -> Reply {
    let padded = answer().frames().into_iter().map(|frame| match frame.json() {
        Some(mut event) if event["type"].as_str().is_some_and(is_delta) => {
            event["obfuscation"] = "x9".into();
            Frame::event(&event)
        }
        _ => frame,
    });
    Reply::sse(padded.collect::<Vec<_>>())
}

#[tokio::test]
async fn obfuscation_pads_the_deltas() {
    for dialect in APIS {
        let world = dialect.world().await;
        dialect.answers(&world, &answer());
        let turn = world.client().turn(Mode::Streamed, &with_obfuscation(true)).await;
        let deltas = deltas(&turn);
        assert!(deltas.len() > 2, "{dialect:?}");
        for delta in deltas {
            let padding = delta.json["obfuscation"].as_str().unwrap();
            assert!((1..=16).contains(&padding.len()), "{padding}");
            let reply = delta.json["delta"].to_string().len() - 2;
            assert_eq!((reply + padding.len()) % 16, 0, "{:?}", delta.json);
        }
    }
}

#[tokio::test]
async fn obfuscation_is_removed_on_request() {
    let world = RESPONSES.world().await;
    world.script(padded_by_the_upstream());
    let turn = world.client().turn(Mode::Streamed, &with_obfuscation(false)).await;
    assert_eq!(world.last_request().body["stream_options"], json!({"include_obfuscation": false}));
    assert!(!deltas(&turn).is_empty());
    assert!(deltas(&turn).iter().all(|delta| delta.json.get("obfuscation").is_none()));
}

#[tokio::test]
async fn obfuscation_passes_by_default() {
    let world = RESPONSES.world().await;
    for stream_options in [Value::Null, json!({}), json!({"include_obfuscation": null})] {
        world.script(padded_by_the_upstream());
        let asked = ask("Hello").field("stream_options", stream_options);
        let turn = world.client().turn(Mode::Streamed, &asked).await;
        assert!(deltas(&turn).iter().all(|delta| delta.json["obfuscation"] == "x9"));
    }
    RESPONSES.answers(&world, &answer());
    let turn = world.client().turn(Mode::Streamed, &ask("Hello")).await;
    assert!(deltas(&turn).iter().all(|delta| delta.json.get("obfuscation").is_none()));
}

#[tokio::test]
async fn obfuscation_is_not_stored() {
    for mode in MODES {
        let world = RESPONSES.world().await;
        let client = world.client();
        world.script(padded_by_the_upstream());
        let turn = client.turn(mode, &with_obfuscation(true)).await;
        assert_eq!(client.stored_response(turn.id()).await["output"], turn.response["output"]);
        assert!(!turn.response.to_string().contains("obfuscation"));
    }
}

#[tokio::test]
async fn obfuscation_option_is_a_boolean() {
    for dialect in APIS {
        let world = dialect.world().await;
        let refused = world.client().refused(Mode::Streamed, &with_obfuscation("yes")).await;
        let path = "stream_options.include_obfuscation";
        let message =
            format!("Invalid type for '{path}': expected a boolean, but got a string instead.");
        assert_eq!(refused, invalid(Some(path), Some("invalid_type"), &message));
    }
}
