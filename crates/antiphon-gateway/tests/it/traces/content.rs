//! The text of items, which only an operator's setting allows, and secrets, which nothing allows.

use antiphon_gateway::settings::{Secret, Settings};
use antiphon_mock::{Answer, Reply};
use antiphon_testkit::otlp;
use http::StatusCode;
use serde_json::{Value, json};

use super::TracedWorld;
use crate::support::{MODEL, MODES, Mode, ask, call, output, user};

fn with_content(settings: &mut Settings) {
    settings.telemetry.traces.as_mut().expect("they are exported").has_content = true;
}

/// A turn whose items, fields and headers have marked texts.
async fn marked_turn(traced: &TracedWorld, mode: Mode) {
    let answer = Answer::new(MODEL).reasoning("THOUGHT-mark").message("ANSWER-mark");
    let reply = match mode {
        Mode::Whole => Reply::json(StatusCode::OK, &answer.json()),
        Mode::Streamed => Reply::sse(answer.frames()),
    };
    traced.world.script(reply);
    let input = json!([
        user("QUESTION-mark"),
        call("call_1", "ARGUMENT-mark"),
        output(&"call_1".into(), "OUTPUT-mark"),
        {"role": "user", "content": [
            {"type": "input_image", "image_url": "https://a.example/IMAGE-mark?sig=SIGNED-mark"},
            {"type": "input_text", "text": "LAST-mark"},
        ]},
    ]);
    let question = ask(input)
        .field("instructions", "INSTRUCTION-mark")
        .field("metadata", json!({"key": "METADATA-mark"}))
        .field("user", "USER-mark");
    let client = traced.world.caller("sk-TOKEN-mark").with_header("cookie", "COOKIE-mark");
    client.turn(mode, &question).await;
}

#[tokio::test]
async fn spans_have_no_text_and_no_secret() {
    for mode in MODES {
        let traced = TracedWorld::with(|settings| {
            settings.upstreams[0].key = Some(Secret::new("sk-KEY-mark"));
        })
        .await;
        marked_turn(&traced, mode).await;
        let trace = traced.trace().await;
        assert!(!otlp::contain(&trace.0, "-mark"), "{:#?}", trace.0);
    }
}

#[tokio::test]
async fn text_is_exported_on_request() {
    for mode in MODES {
        let traced = TracedWorld::with(|settings| {
            settings.upstreams[0].key = Some(Secret::new("sk-KEY-mark"));
            with_content(settings);
        })
        .await;
        marked_turn(&traced, mode).await;

        let trace = traced.trace().await;

        let chat = trace.chat();
        let json = |key: &str| -> Value { serde_json::from_str(chat.text(key)).unwrap() };
        let text = |text: &str| json!({"type": "text", "content": text});
        assert_eq!(json("gen_ai.system_instructions"), json!([text("INSTRUCTION-mark")]));
        let arguments = call("call_1", "ARGUMENT-mark")["arguments"].clone();
        assert_eq!(
            json("gen_ai.input.messages"),
            json!([
                {"role": "user", "parts": [text("QUESTION-mark")]},
                {"role": "assistant", "parts": [
                    {"type": "tool_call", "id": "call_1", "name": "echo", "arguments": arguments},
                ]},
                {"role": "tool", "parts": [
                    {"type": "tool_call_response", "id": "call_1", "response": "OUTPUT-mark"},
                ]},
                {"role": "user", "parts": [{"type": "input_image"}, text("LAST-mark")]},
            ])
        );
        assert_eq!(
            json("gen_ai.output.messages"),
            json!([{"role": "assistant", "finish_reason": "stop", "parts": [
                {"type": "reasoning", "content": "THOUGHT-mark"},
                text("ANSWER-mark"),
            ]}])
        );
        for secret in ["KEY", "TOKEN", "COOKIE", "SIGNED", "IMAGE", "METADATA", "USER"] {
            assert!(!otlp::contain(&trace.0, &format!("{secret}-mark")), "{secret}");
        }
    }
}

#[tokio::test]
async fn long_text_is_cut_to_the_newest() {
    let traced = TracedWorld::with(with_content).await;
    let long = |name: &str| format!("{name} {}", "word ".repeat(4000));
    let input: Vec<Value> = (0..20).map(|at| user(&long(&format!("item-{at}.")))).collect();
    traced.world.client().respond(&ask(input)).await;

    let trace = traced.trace().await;

    let chat = trace.chat();
    let messages = chat.text("gen_ai.input.messages");
    assert!(messages.len() < 40 << 10, "{}", messages.len());
    let parsed: Vec<Value> = serde_json::from_str(messages).unwrap();
    let omitted = usize::try_from(chat.int("antiphon.items.omitted").unwrap()).unwrap();
    assert_eq!(parsed.len() + omitted, 20);
    let last = parsed.last().unwrap()["parts"][0]["content"].as_str().unwrap();
    assert!(last.starts_with("item-19."), "{last}");
}
