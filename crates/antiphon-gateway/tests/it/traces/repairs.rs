//! Turns that are repaired, and turns that are refused.

use antiphon_testkit::otlp::Value;
use serde_json::json;

use super::TracedWorld;
use crate::support::{MODES, Mode, ask, call, user};

#[tokio::test]
async fn repairs_are_named() {
    for mode in MODES {
        let traced = TracedWorld::new().await;
        let input = json!([
            user("Echo it"),
            call("call_1", "hello"),
            call("call_2", "hello"),
            {"type": "reasoning", "summary": []},
            user("And now?"),
        ]);
        traced.world.client().turn(mode, &ask(input)).await;

        let trace = traced.trace().await;

        let root = trace.span("POST /v1/responses");
        let faults = ["bare_reasoning", "unanswered_call"].map(|it| Value::Text(it.to_owned()));
        assert_eq!(root.attributes["antiphon.repairs"], Value::List(faults.to_vec()));
        assert_eq!(root.int("antiphon.items.repaired"), Some(3));
        assert_eq!(root.int("antiphon.items.received"), Some(5));
        assert!(!root.is_error);
    }
}

#[tokio::test]
async fn refused_turn_has_the_code_of_its_error() {
    for mode in MODES {
        let traced = TracedWorld::new().await;
        let asking = ask("Hello").after("resp_unknown");
        traced.world.client().refused(mode, &asking).await;

        let trace = traced.trace().await;

        assert_eq!(trace.tree(), "POST /v1/responses\n  open\n");
        let root = trace.span("POST /v1/responses");
        assert_eq!(root.text("antiphon.turn.outcome"), "refused");
        assert_eq!(root.text("error.type"), "previous_response_not_found");
        assert!(!root.is_error, "the caller is at fault");
        assert_eq!(root.int("http.response.status_code"), Some(400));
        let open = trace.span("open");
        assert_eq!((open.is_error, open.text("error.type")), (true, "previous_response_not_found"));
    }
}

#[tokio::test]
async fn unreadable_request_has_a_status() {
    let traced = TracedWorld::new().await;
    traced.world.client().post_raw("/v1/responses", "{").await;

    let trace = traced.trace().await;

    assert_eq!(trace.tree(), "POST /v1/responses\n");
    let root = trace.span("POST /v1/responses");
    assert_eq!((root.int("http.response.status_code"), root.is_error), (Some(400), false));
}

#[tokio::test]
async fn refusal_of_the_upstream_has_its_code() {
    let traced = TracedWorld::new().await;
    let error = json!({"error": {"message": "No.", "type": "invalid_request_error",
        "param": "model", "code": "model_not_found"}});
    let reply = antiphon_mock::Reply::json(http::StatusCode::NOT_FOUND, &error);
    traced.world.script(reply);
    traced.world.client().refused(Mode::Streamed, &ask("Hello")).await;

    let trace = traced.trace().await;

    assert_eq!(trace.chat().text("error.type"), "model_not_found");
    let [attempt] = trace.attempts()[..] else { panic!("{}", trace.tree()) };
    assert_eq!((attempt.is_error, attempt.text("error.type")), (true, "404"));
    assert_eq!(trace.span("send").text("error.type"), "model_not_found");
    let root = trace.span("POST /v1/responses");
    assert_eq!((root.text("error.type"), root.is_error), ("model_not_found", false));
}
