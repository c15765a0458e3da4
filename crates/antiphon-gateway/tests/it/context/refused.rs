//! Turns that left no response.

use antiphon_gateway::settings::Faults;
use antiphon_mock::Reply;
use http::StatusCode;
use serde_json::json;

use super::sources;
use crate::support::{MODES, Mode, World, ask, output};

#[tokio::test]
async fn refused_turn_can_be_read_by_its_request_id() {
    let world = World::with(|settings| settings.faults = Faults::Reject).await;
    let client = world.client().with_header("x-request-id", "req_of_the_test");
    let input = json!([output(&json!("call_unknown"), "hello")]);
    let refused = client.refused(Mode::Whole, &ask(input.clone())).await;

    let context = client.get("/v1/responses/req_of_the_test/context").await.json();

    assert_eq!(context["status"], "refused");
    assert_eq!(context["error"]["message"], refused.body["error"]["message"]);
    assert_eq!(sources(&context), ["input"]);
    assert_eq!(context["items"][0]["item"], input[0]);
    assert_eq!(context["request"]["tools"][0]["name"], "echo");
    let foreign = world.caller("token-of-bob");
    assert_eq!(foreign.get("/v1/responses/req_of_the_test/context").await.status(), 404);
}

#[tokio::test]
async fn failed_turn_can_be_read_by_its_request_id() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client().with_header("x-request-id", "req_of_the_test");
        let error = json!({"error": {"message": "No.", "type": "invalid_request_error",
            "param": null, "code": "invalid_prompt"}});
        world.script(Reply::json(StatusCode::BAD_REQUEST, &error));
        client.refused(mode, &ask("Hello")).await;

        let context = client.get("/v1/responses/req_of_the_test/context").await.json();

        assert_eq!(context["error"], json!({"code": "invalid_prompt", "message": "No."}));
        assert_eq!(context["items"][0]["item"]["content"], "Hello");
    }
}
