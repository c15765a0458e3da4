//! The context's bounds, and hints to who serves it.

use antiphon_mock::Reply;
use http::StatusCode;
use serde_json::{Value, json};

use super::{APIS, world_of};
use crate::support::{MODES, PLAIN, World, ask, assistant, typed_user};

/// More than anybody would truncate by mistake.
const LONG: usize = 200;

fn long() -> Value {
    let pair = |at: usize| [typed_user(&format!("Fact {at}.")), assistant("Noted.")];
    (0..LONG / 2).flat_map(pair).chain([typed_user("Hello")]).collect()
}

#[tokio::test]
async fn input_is_not_truncated_by_default() {
    for (dialect, _) in APIS {
        for truncation in [Value::Null, json!("disabled")] {
            let world = world_of(dialect).await;
            let asked = ask(long()).model(PLAIN).field("truncation", truncation);
            let turn = world.client().respond(&asked).await;
            assert_eq!(world.last_view().await.len(), LONG + 1, "{dialect}");
            assert_eq!(turn.response["truncation"], "disabled");
        }
    }
}

#[tokio::test]
async fn too_long_context_fails_with_its_error() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let first = client.turn(mode, &ask("Hello")).await;
        let error = json!({
            "type": "invalid_request_error", "code": "context_length_exceeded", "param": "input",
            "message": "Your input exceeds the context window of this model.",
        });
        world.script(Reply::json(StatusCode::BAD_REQUEST, &json!({"error": error})));

        let asked = ask(long()).after(first.id()).field("truncation", "disabled");
        let refused = client.refused(mode, &asked).await;

        assert_eq!(refused.status, 400);
        assert_eq!(refused.body["error"]["code"], "context_length_exceeded");
        assert_eq!(world.times_asked(), 2);
    }
}

#[tokio::test]
async fn truncation_is_forwarded() {
    let world = World::new().await;
    let turn = world.client().respond(&ask("Hello").field("truncation", "auto")).await;
    assert_eq!(world.request(0).await.body["truncation"], "auto");
    assert_eq!(turn.response["truncation"], "auto");
}

#[tokio::test]
async fn service_tier_is_forwarded() {
    let world = World::new().await;
    for tier in ["auto", "default", "flex", "priority"] {
        let turn = world.client().respond(&ask("Hello").field("service_tier", tier)).await;
        assert_eq!(world.last_request().body["service_tier"], tier);
        assert!(turn.response["service_tier"].is_string());
    }
}
