//! The gateway's own key, which an upstream is shown and callers are not.

use antiphon_gateway::settings::Secret;
use antiphon_testkit::Reply;
use http::StatusCode;
use serde_json::json;

use crate::support::{MODES, World, ask};

#[tokio::test]
async fn a_refusal_that_repeats_the_gateways_key_reaches_its_caller_without_it() {
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
