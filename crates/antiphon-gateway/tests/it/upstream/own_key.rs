//! The gateway's own key, which an upstream is shown and callers are not.

use antiphon_gateway::settings::{Secret, Settings, State};
use antiphon_mock::{Frame, Reply};
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Answer, MODES, World, ask};

const KEY: &str = "sk-of-the-gateway";
const ESCAPED: &str = r"sk\u002dof\u002Dthe-gateway";

fn with_key(settings: &mut Settings) {
    settings.upstreams[0].key = Some(Secret::new(KEY));
}

/// A server error, and a 200 that reports an error, in either spelling of the key.
fn echoes() -> Vec<Reply> {
    let body = |key: &str| format!(r#"{{"error":{{"message":"no {key}","code":"{key}"}}}}"#);
    let statuses = [StatusCode::BAD_REQUEST, StatusCode::OK];
    let replies = statuses.into_iter().flat_map(|status| {
        [KEY, ESCAPED].map(|key| Reply::new(status, "application/json", body(key)))
    });
    replies.collect()
}

#[track_caller]
fn assert_hidden(answer: &Answer) {
    let text = String::from_utf8_lossy(answer.body()).into_owned();
    assert!(!text.contains("the-gateway"), "{text}");
}

#[tokio::test]
async fn key_is_removed_from_a_rejection() {
    let world = World::with(|settings| {
        settings.upstreams[0].key = Some(Secret::new("sk-of-the-gateway"));
    })
    .await;
    for mode in MODES {
        let refusal = |key: &str| {
            let message = format!("Incorrect API key provided: {key}.");
            json!({"error": {
                "message": message, "type": "invalid_request_error", "param": "", "code": "",
            }})
        };
        world.script(Reply::json(StatusCode::UNAUTHORIZED, &refusal("sk-of-the-gateway")));

        let answer = world.client().create(mode, &ask("Hello")).await;

        assert_eq!(answer.status(), 401);
        assert_eq!(*answer.body(), refusal("***").to_string());
    }
}

#[tokio::test]
async fn side_requests_do_not_repeat_the_key() {
    let world = World::with(with_key).await;
    let body = ask("Hello").body().clone();
    for path in ["/v1/responses/compact", "/v1/responses/input_tokens", "/v1/files"] {
        for reply in echoes() {
            world.script(reply);
            assert_hidden(&world.client().post(path, &body).await);
        }
    }
}

#[tokio::test]
async fn background_response_does_not_repeat_the_key() {
    let world = World::with(with_key).await;
    for key in [KEY, ESCAPED] {
        let event =
            format!("data: {{\"type\":\"error\",\"code\":\"x\",\"message\":\"{key}\"}}\n\n");
        world.script(Reply::sse([Frame::raw(event)]));
        let queued = world.client().create(MODES[0], &ask("Hello").field("background", true)).await;
        let queued: Value = serde_json::from_slice(queued.body()).unwrap();
        let ended = world.client().wait_until_ended(queued["id"].as_str().unwrap()).await;
        assert_eq!(ended["error"]["message"], "***", "{ended}");
    }
}

#[tokio::test]
async fn upstream_state_does_not_repeat_the_key() {
    let world = World::with(|settings| {
        with_key(settings);
        settings.upstreams[0].state = State::Upstream;
    })
    .await;
    for reply in echoes() {
        world.script(reply.clone());
        assert_hidden(&world.client().get("/v1/conversations/conv_1/items").await);
        world.script(reply.clone());
        assert_hidden(&world.client().get("/v1/responses/resp_1").await);
        for mode in MODES {
            world.script(reply.clone());
            assert_hidden(&world.client().create(mode, &ask("Hello")).await);
        }
    }
}

#[tokio::test]
async fn placeholder_and_masked_keys_are_unchanged() {
    for key in ["lm-studio", KEY] {
        let world = World::with(|settings| {
            settings.upstreams[0].key = Some(Secret::new(key));
        })
        .await;
        let text = "Start lm-studio with sk-of***way.";
        let frames = antiphon_mock::Answer::new(crate::support::MODEL).message(text).frames();
        world.script(Reply::sse(frames));
        let answer = world.client().create(MODES[0], &ask("Hello")).await;
        assert!(String::from_utf8_lossy(answer.body()).contains(text));
    }
}
