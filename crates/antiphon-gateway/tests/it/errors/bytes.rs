//! Bodies that cannot be read.

use crate::support::{Refused, World, ask, invalid};

const NOT_JSON: &str = "We could not parse the JSON body of your request. (HINT: This likely means \
    you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what \
    was sent was not valid JSON. If you have trouble figuring out how to fix this, please contact \
    us through our help center at help.openai.com.)";

/// The bound on a body.
const MAX_BODY: usize = 32 << 20;

fn not_json() -> Refused {
    invalid(None, None, NOT_JSON)
}

#[tokio::test]
async fn invalid_json_is_rejected_on_every_route() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let paths = [
        "/v1/responses".to_owned(),
        "/v1/conversations".to_owned(),
        format!("/v1/conversations/{conversation}"),
        format!("/v1/conversations/{conversation}/items"),
    ];
    let bodies: [&[u8]; 4] = [
        b"{not json",
        br#"{"model": "fake-model", "input": "#,
        br#"{"model": "fake-model"} and more"#,
        b"{\"model\": \"\xff\xfe\"}",
    ];
    for path in &paths {
        for body in bodies {
            let answer = client.post_raw(path, body).await;
            assert_eq!(answer.refused(), not_json(), "{path}: {body:?}");
        }
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn json_other_than_an_object_is_rejected() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let paths = [
        "/v1/responses".to_owned(),
        "/v1/responses/input_tokens".to_owned(),
        "/v1/responses/compact".to_owned(),
        "/v1/conversations".to_owned(),
        format!("/v1/conversations/{conversation}"),
        format!("/v1/conversations/{conversation}/items"),
    ];
    let bodies = [
        ("[]", "an array"),
        (" [{\"model\": \"fake-model\"}] ", "an array"),
        ("1", "an integer"),
        ("null", "null"),
        ("\"Hello\"", "a string"),
        ("true", "a boolean"),
    ];
    for path in &paths {
        for (body, got) in bodies {
            let refused = client.post_raw(path, body).await.refused();
            let message = format!("Invalid JSON body: expected an object, but got {got} instead.");
            assert_eq!(refused, invalid(None, Some("invalid_type"), &message), "{path}: {body}");
        }
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn missing_body_is_rejected() {
    let world = World::new().await;
    let answer = world.client().post_raw("/v1/responses", "").await;
    assert_eq!(answer.refused(), not_json());
}

#[tokio::test]
async fn invalid_json_deep_in_an_item_is_rejected() {
    let world = World::new().await;
    let body = r#"{"model":"fake-model","input":[{"role":"user","content":tru}]}"#;
    let answer = world.client().post_raw("/v1/responses", body).await;
    assert_eq!(answer.refused(), not_json());
}

#[tokio::test]
async fn body_over_the_limit_is_too_large() {
    let world = World::new().await;
    let client = world.client();

    let answer = client.post_raw("/v1/responses", sized(MAX_BODY + 1)).await;

    let refused = answer.refused();
    assert_eq!(refused.status, 413);
    assert_eq!(refused.body["error"]["type"], "invalid_request_error");
    assert_eq!(client.respond(&ask("Hello")).await.text(), "Noted.");
}

#[tokio::test]
async fn body_at_the_limit_is_read() {
    let world = World::new().await;
    let client = world.client();

    let answer = client.post_raw("/v1/responses", sized(MAX_BODY)).await;

    let refused = answer.refused();
    assert_eq!(refused.status, 400);
    assert_eq!(refused.body["error"]["param"], "model");
}

/// A request of exactly this many bytes, without a model.
fn sized(length: usize) -> String {
    let (begin, end) = (r#"{"input":""#, r#""}"#);
    let padding = "x".repeat(length - begin.len() - end.len());
    format!("{begin}{padding}{end}")
}
