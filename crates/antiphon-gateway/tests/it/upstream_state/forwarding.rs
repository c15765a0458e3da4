//! Requests reach the provider, and answers the caller, unchanged.

use serde_json::json;

use super::world::World;
use crate::support::{MODES, ask, typed_user};

#[tokio::test]
async fn fields_are_forwarded_unchanged() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let asked = ask([typed_user("Hi.")])
            .within(&conversation)
            .field("metadata", json!({"a": "b"}))
            .field("truncation", "auto")
            .field("include", json!(["reasoning.encrypted_content"]))
            .field("service_tier", "default")
            .field("max_output_tokens", 1000);
        world.client().turn(mode, &asked).await;

        let mut expected = asked.body().clone();
        expected["stream"] = true.into();
        assert_eq!(world.last_turn().body, expected);
    }
}

#[tokio::test]
async fn answer_equals_the_providers_response() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let asked = ask([typed_user("Echo hi.")])
            .within(&conversation)
            .field("metadata", json!({"a": "b"}));
        let turn = world.client().turn(mode, &asked).await;

        let kept = world.provider.response(turn.id()).expect("the provider has it");
        for key in ["id", "metadata", "store", "conversation", "model", "previous_response_id"] {
            assert_eq!(turn.response[key], kept[key], "{key}");
        }
        let ids = |response: &serde_json::Value| -> Vec<_> {
            response["output"]
                .as_array()
                .expect("it has output")
                .iter()
                .map(|item| (item["id"].clone(), item["call_id"].clone()))
                .collect()
        };
        assert_eq!(ids(&turn.response), ids(&kept));
        assert_eq!(turn.header("antiphon-response"), None);
    }
}

#[tokio::test]
async fn rejection_passes_without_an_effect() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let refused = ask([typed_user("Hi.")]).model("unknown-model").within(&conversation);
        let refused = world.client().refused(mode, &refused).await;
        assert_eq!(refused.body["error"]["code"], "model_not_found");
        assert_eq!(world.holds(&conversation), [""; 0]);

        world.client().turn(mode, &ask([typed_user("Hello.")]).within(&conversation)).await;
        assert_eq!(world.given(), ["user: Hello."]);
    }
}
