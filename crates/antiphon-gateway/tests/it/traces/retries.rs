//! Requests that are sent to the upstream again.

use std::time::Duration;

use antiphon_gateway::settings::{Retries, Settings};
use antiphon_mock::{Answer, Reply};
use antiphon_testkit::otlp::Value;
use http::StatusCode;
use serde_json::json;

use super::TracedWorld;
use crate::support::{MODEL, MODES, Mode, ask};

fn retry_at_once(settings: &mut Settings) {
    settings.upstreams[0].retries =
        Retries { max: 2, first_delay: Duration::ZERO, ..Retries::default() };
}

fn failure(status: StatusCode) -> Reply {
    let error = json!({"error": {"message": "No.", "type": "server_error", "code": null}});
    Reply::json(status, &error)
}

#[tokio::test]
async fn each_attempt_has_a_span() {
    for mode in MODES {
        let traced = TracedWorld::with(retry_at_once).await;
        traced.world.script(failure(StatusCode::INTERNAL_SERVER_ERROR));
        traced.world.script(failure(StatusCode::SERVICE_UNAVAILABLE));
        traced.world.client().turn(mode, &ask("Hello")).await;

        let trace = traced.trace().await;

        let attempts = trace.attempts();
        let facts: Vec<_> = attempts
            .iter()
            .map(|it| (it.text("error.type"), it.int("http.request.resend_count"), it.is_error))
            .collect();
        assert_eq!(facts, [("500", None, true), ("503", Some(1), true), ("", Some(2), false)]);
        let chat = trace.chat();
        assert!(attempts.iter().all(|attempt| attempt.parent == chat.id));
        assert!(!chat.is_error, "the answer came");
        let retries: Vec<_> =
            chat.events.iter().map(|(name, of)| (&**name, &of["error.type"])).collect();
        let [first, second] = ["500", "503"].map(|it| Value::Text(it.to_owned()));
        assert_eq!(retries, [("retry", &first), ("retry", &second)]);
        assert_eq!(trace.span("POST /v1/responses").int("antiphon.retries"), Some(2));
    }
}

#[tokio::test]
async fn last_failure_fails_the_turn() {
    for mode in MODES {
        let traced = TracedWorld::new().await;
        traced.world.script(failure(StatusCode::INTERNAL_SERVER_ERROR));
        let refused = traced.world.client().create(mode, &ask("Hello")).await;
        assert_eq!(refused.status(), 500);

        let trace = traced.trace().await;

        for span in [trace.chat(), trace.span("send"), trace.span("POST /v1/responses")] {
            assert_eq!((span.is_error, span.text("error.type")), (true, "500"), "{}", span.name);
        }
    }
}

#[tokio::test]
async fn stream_that_breaks_off_is_retried_below_the_same_span() {
    let traced = TracedWorld::with(retry_at_once).await;
    let answer = Answer::new(MODEL).message("Hello there");
    traced.world.script(Reply::sse(answer.frames()).break_after(1));
    traced.world.client().turn(Mode::Streamed, &ask("Hello")).await;

    let trace = traced.trace().await;

    assert_eq!(trace.attempts().len(), 2);
    let chat = trace.chat();
    assert_eq!((chat.is_error, chat.events.len()), (false, 1));
    assert_eq!(chat.events[0].1["error.type"], Value::Text("broke_off".to_owned()));
    assert!(trace.attempts()[1].start > trace.span("stream").start);
}

#[tokio::test]
async fn broken_answer_fails_its_span() {
    let traced = TracedWorld::new().await;
    let answer = Answer::new(MODEL).message("Hello there");
    traced.world.script(Reply::sse(answer.frames()).break_after(5));
    let turn = traced.world.client().turn(Mode::Streamed, &ask("Hello")).await;
    assert_eq!(turn.status(), "failed");

    let trace = traced.trace().await;

    let chat = trace.chat();
    assert_eq!((chat.is_error, chat.text("error.type")), (true, "broke_off"));
    let reasons = Value::List(vec![Value::Text("error".to_owned())]);
    assert_eq!(chat.attributes["gen_ai.response.finish_reasons"], reasons);
    let root = trace.span("POST /v1/responses");
    assert_eq!(root.text("antiphon.turn.outcome"), "failed");
    assert_eq!((root.is_error, root.int("http.response.status_code")), (true, Some(200)));
}
