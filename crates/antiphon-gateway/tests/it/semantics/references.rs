//! `item_reference`: across the responses of a tenant, and never of another.

use serde_json::json;

use super::APIS;
use crate::support::{MODES, World, ask, invalid, reference, user};

#[tokio::test]
async fn reference_resolves_to_the_tenants_item() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            let alice = world.caller("token-of-alice");
            let received = alice.turn(mode, &ask("My color is purple")).await;
            let reply = &received.item("message")["id"];
            let refer = ask(json!([user("My color is purple"), reference(reply), user("Hello")]));

            let stranger = world.caller("token-of-bob").refused(mode, &refer).await;
            let asked = world.times_asked();
            alice.turn(mode, &refer).await;

            assert_eq!(stranger.status, 404, "{dialect:?}");
            assert_eq!(stranger.body["error"]["param"], "input");
            assert_eq!(asked, 1);
            let expected = ["user: My color is purple", "assistant: Noted.", "user: Hello"];
            let view = world.last_view().await;
            let messages = view.iter().filter(|line| line.contains(": ")).collect::<Vec<_>>();
            assert_eq!(messages, expected);
        }
    }
}

#[tokio::test]
async fn reference_in_a_conversation_is_resolved() {
    let world = World::new().await;
    let body = json!({"items": [{"type": "item_reference", "id": ""}]});
    let refused = world.client().post("/v1/conversations", &body).await.refused();
    let code = Some("missing_required_parameter");
    let message = "Missing required parameter: 'items[0].id'.";
    assert_eq!(refused, invalid(Some("items[0].id"), code, message));
}
