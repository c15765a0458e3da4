//! Errors: their form, their types, and how they come in a stream.

use std::num::NonZeroU32;

use antiphon_gateway::settings::Rate;
use antiphon_mock::{Answer, Reply};
use http::StatusCode;
use serde_json::{Value, json};

use super::{APIS, streamed, world_of};
use crate::support::{Ask, Event, MODEL, MODES, Mode, World, ask, soon};

/// An error has a type and a message, and says what it has of the rest: a string or null.
fn assert_error(body: &Value) {
    let error = body["error"].as_object().expect("it is an error");
    for key in ["type", "message"] {
        assert!(error[key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {body}");
    }
    for key in ["code", "param"] {
        assert!(error[key].is_string() || error[key].is_null(), "{key}: {body}");
    }
}

/// What may be wrong with a request, and the type and status of the error.
fn mistakes() -> Vec<(Ask, u16, &'static str)> {
    let invalid = "invalid_request_error";
    vec![
        (ask("Hello").field("model", Value::Null), 400, invalid),
        (ask("Hello").field("input", 5), 400, invalid),
        (ask("Hello").after("resp_unknown"), 400, invalid),
        (ask("Hello").within("conv_unknown"), 404, invalid),
        (ask(json!([{"type": "item_reference", "id": "msg_unknown"}])), 404, invalid),
    ]
}

#[tokio::test]
async fn errors_have_type_and_message() {
    for mode in MODES {
        let world = World::new().await;
        for (ask, status, kind) in mistakes() {
            let refused = world.client().refused(mode, &ask).await;
            assert_eq!(refused.status, status, "{}", refused.body);
            assert_error(&refused.body);
            assert_eq!(refused.body["error"]["type"], kind);
        }
    }
}

#[tokio::test]
async fn unknown_objects_are_not_found() {
    let world = World::new().await;
    for path in
        ["/v1/responses/resp_unknown", "/v1/conversations/conv_unknown", "/v1/responses/no/thing"]
    {
        let refused = world.client().get(path).await.refused();
        assert_eq!(refused.status, 404);
        assert_error(&refused.body);
    }
}

#[tokio::test]
async fn unreachable_upstream_is_a_server_error() {
    for (dialect, _) in APIS {
        let world = world_of(dialect).await;
        world.script(Reply::hangup());
        let refused = world.client().refused(Mode::Whole, &ask("Hello")).await;
        assert!((500..600).contains(&refused.status));
        assert_error(&refused.body);
        assert_eq!(refused.body["error"]["type"], "server_error");
    }
}

#[tokio::test]
async fn rate_limit_is_too_many_requests() {
    let once = NonZeroU32::MIN;
    let world = World::with(|settings| {
        settings.limits.rate = Some(Rate { per_second: once, burst: once });
    })
    .await;
    let client = world.client();
    let until_refused = async {
        loop {
            let answer = client.create(Mode::Whole, &ask("Hello")).await;
            if answer.status() != 200 {
                break answer.refused();
            }
        }
    };

    let refused = soon("it is too often", until_refused).await;

    assert_eq!(refused.status, 429);
    assert_error(&refused.body);
    assert_eq!(refused.body["error"]["type"], "too_many_requests");
    assert_eq!(refused.body["error"]["code"], "rate_limit_exceeded");
}

#[tokio::test]
async fn stream_errors_end_in_a_failed_response() {
    for (dialect, api) in APIS {
        let world = world_of(dialect).await;
        let answer = Answer::new(MODEL).message("I was about").failed("server_error", "It broke.");
        world.script(streamed(api, &answer));

        let turn = world.client().turn(Mode::Streamed, &ask("Hello")).await;

        let is_failure = |event: &&Event| event.name == "response.failed";
        assert_eq!(turn.events.iter().filter(is_failure).count(), 1);
        assert_eq!(turn.events.last().map(|event| &*event.name), Some("response.failed"));
        let error = &turn.response["error"];
        assert!(error["message"].as_str().is_some_and(|it| it.contains("It broke.")), "{error}");
        assert!(error["code"].is_string());
        assert_eq!(turn.response["incomplete_details"], Value::Null);
    }
}

#[tokio::test]
async fn upstream_rejection_passes_unchanged() {
    let refusals = [
        (StatusCode::BAD_REQUEST, "invalid_request"),
        (StatusCode::NOT_FOUND, "not_found"),
        (StatusCode::TOO_MANY_REQUESTS, "too_many_requests"),
        (StatusCode::INTERNAL_SERVER_ERROR, "model_error"),
    ];
    for (status, kind) in refusals {
        let world = World::new().await;
        let error = json!({"type": kind, "message": "No.", "code": "because", "param": "input"});
        world.script(Reply::json(status, &json!({"error": error})));
        let refused = world.client().refused(Mode::Streamed, &ask("Hello")).await;
        assert_eq!(refused.status, status.as_u16());
        assert_eq!(refused.body["error"], error);
    }
}
