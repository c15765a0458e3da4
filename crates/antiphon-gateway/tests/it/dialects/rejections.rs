//! Refusals of an upstream, in the form that callers read.

use antiphon_mock::Reply;
use http::StatusCode;
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, Dialect};
use crate::support::{MODES, ask};

/// Status, body, and the error's type and message as a caller gets them.
type Refusal = (u16, Value, &'static str, &'static str);

/// Error bodies as the providers document them, and as servers of their APIs send them.
fn refusals(dialect: Dialect) -> Vec<Refusal> {
    let anthropic = |kind: &str, message: &str| {
        json!({
            "type": "error",
            "error": {"type": kind, "message": message},
            "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy",
        })
    };
    match dialect.upstream == ANTHROPIC.upstream {
        true => vec![
            (429, anthropic("rate_limit_error", "Slow down."), "rate_limit_error", "Slow down."),
            (529, anthropic("overloaded_error", "Overloaded"), "overloaded_error", "Overloaded"),
            (401, anthropic("authentication_error", "No."), "authentication_error", "No."),
        ],
        false => vec![
            (
                429,
                json!({"error": {"message": "Slow down.", "type": "requests", "code": "x"}}),
                "requests",
                "Slow down.",
            ),
            (
                400,
                json!({"object": "error", "message": "Too long.", "type": "BadRequestError"}),
                "BadRequestError",
                "Too long.",
            ),
            (
                404,
                json!({"detail": "Not Found"}),
                "upstream_error",
                "Not Found. The upstream does not serve POST /v1/chat/completions, the path of \
                 the API 'chat'. If it has another API, the operator can set that: \
                 --upstream-api, or 'api' below [[upstreams]].",
            ),
            (404, json!({"error": "model 'm' not found"}), "upstream_error", "model 'm' not found"),
        ],
    }
}

#[tokio::test]
async fn rejection_keeps_its_status_and_message() {
    for dialect in [CHAT, ANTHROPIC] {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            let say = |text: &str| ask(text).within(&conversation);
            client.turn(mode, &say("My color is purple")).await;
            let held = client.items(&conversation).await;

            for (status, body, kind, message) in refusals(dialect) {
                let status_code = StatusCode::from_u16(status).unwrap();
                world.script(Reply::json(status_code, &body).header("retry-after", "7"));
                let answer = client.create(mode, &say("Hello")).await;

                assert_eq!(answer.header("retry-after"), Some("7"));
                let refused = answer.refused();
                assert_eq!(refused.status, status);
                assert_eq!(refused.body["error"]["type"], kind);
                assert_eq!(refused.body["error"]["message"], message);
                assert_eq!(client.items(&conversation).await, held);
            }

            let recalled = client.turn(mode, &say("What is my color?")).await;
            assert_eq!(recalled.text(), "purple");
        }
    }
}
