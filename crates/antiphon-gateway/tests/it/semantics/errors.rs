//! The form of errors: every field of an error is a string, so that every client finds the message.

use antiphon_mock::{Answer, Reply};
use http::StatusCode;
use serde_json::{Value, json};

use super::{APIS, Dialect};
use crate::support::{Client, MODEL, MODES, Mode, World, ask};

fn assert_strings(error: &Value) {
    for field in ["message", "type", "param", "code"] {
        assert!(error[field].is_string(), "{field} of {error}");
    }
    assert_ne!(error["message"], "");
}

async fn error_of(client: &Client, path: &str) -> Value {
    client.get(path).await.refused().body["error"].clone()
}

#[tokio::test]
async fn own_errors_have_string_fields() {
    let world = World::new().await;
    let client = world.client();
    for path in
        ["/v1/responses/resp_1", "/v1/conversations/conv_1", "/v1/responses/no/thing", "/nothing"]
    {
        assert_strings(&error_of(&client, path).await);
    }
    for body in ["{", "{}", r#"{"model":"fake-model","input":[]}"#] {
        let refused = client.post_raw("/v1/responses", body).await.refused();
        assert_strings(&refused.body["error"]);
    }
}

/// Errors that upstreams send, without what clients look for in them.
fn incomplete() -> Vec<Value> {
    vec![
        json!({"error": {"message": "No.", "type": "x", "param": null, "code": null}}),
        json!({"error": {"message": "No."}}),
        json!({"error": {"message": "No.", "type": null, "code": 400}}),
        json!({"error": "No."}),
        json!({"detail": "No."}),
        json!({"object": "error", "message": "No.", "type": "BadRequestError", "code": 400}),
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": "No."}}),
    ]
}

#[tokio::test]
async fn upstream_errors_get_string_fields_and_keep_their_message() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            for body in incomplete() {
                world.script(Reply::json(StatusCode::BAD_REQUEST, &body));
                let refused = world.client().refused(mode, &ask("Hello")).await;
                assert_eq!(refused.status, 400);
                assert_strings(&refused.body["error"]);
                assert_eq!(refused.body["error"]["message"], "No.", "{body}");
            }
        }
    }
}

#[tokio::test]
async fn extra_error_fields_are_unchanged() {
    let world = APIS[0].world().await;
    let body = json!({
        "error": {"message": "No.", "type": "x", "param": null, "code": "y", "detail": {"n": 1.50}},
        "request_id": "req_1",
    });
    world.script(Reply::json(StatusCode::BAD_REQUEST, &body));
    let refused = world.client().refused(Mode::Whole, &ask("Hello")).await;
    let mut expected = body;
    expected["error"]["param"] = "".into();
    assert_eq!(refused.body, expected);
}

/// Answers that fail before and behind their first output, without saying with which code.
fn failing(dialect: Dialect) -> Vec<Answer> {
    let error = json!({"type": "error", "code": null, "message": "No.", "param": null});
    match dialect.upstream == APIS[0].upstream {
        true => vec![
            Answer::new(MODEL).message("Hel").event("error", error.clone()),
            Answer::new(MODEL).event("error", error),
        ],
        false => vec![Answer::new(MODEL).message("Hel").failed("x", "No.")],
    }
}

#[tokio::test]
async fn stream_errors_have_string_fields() {
    for dialect in APIS {
        let world = dialect.world().await;
        for answer in failing(dialect) {
            dialect.answers(&world, &answer);
            let turn = world.client().turn(Mode::Streamed, &ask("Hello")).await;
            assert_eq!(turn.status(), "failed", "{dialect:?}");
            let error = &turn.response["error"];
            assert_eq!(error["message"], "No.");
            assert!(error["code"].as_str().is_some_and(|code| !code.is_empty()), "{error}");
        }
    }
}
