//! What a wish for compaction may say.

use serde_json::{Value, json};

use crate::support::{Refused, SIM, World, ask, invalid};

async fn refused(wish: Value) -> Refused {
    let world = World::new().await;
    let asked = ask("Hello").model(SIM).field("context_management", wish);
    world.client().post("/v1/responses", asked.body()).await.refused()
}

fn wrong_type(path: &str, expected: &str, got: &str) -> Refused {
    let message = format!("Invalid type for '{path}': expected {expected}, but got {got} instead.");
    invalid(Some(path), Some("invalid_type"), &message)
}

#[tokio::test]
async fn invalid_context_management_is_rejected() {
    let path = "context_management[0]";
    assert_eq!(refused(json!({})).await, wrong_type("context_management", "an array", "an object"));
    assert_eq!(refused(json!(["x"])).await, wrong_type(path, "an object", "a string"));
    let kind = format!("{path}.type");
    let missing = format!("Missing required parameter: '{kind}'.");
    let missing = invalid(Some(&kind), Some("missing_required_parameter"), &missing);
    assert_eq!(refused(json!([{"compact_threshold": 5000}])).await, missing);
    let unknown = "Invalid value: 'magic'. Supported values are: 'compaction'.";
    let unknown = invalid(Some(&kind), Some("invalid_value"), unknown);
    assert_eq!(refused(json!([{"type": "magic"}])).await, unknown);
    let threshold = format!("{path}.compact_threshold");
    let entry = |threshold: Value| json!([{"type": "compaction", "compact_threshold": threshold}]);
    assert_eq!(refused(entry("x".into())).await, wrong_type(&threshold, "an integer", "a string"));
    let low = format!(
        "Invalid '{threshold}': integer below minimum value. Expected a value >= 1000, but got 999 \
         instead."
    );
    let low = invalid(Some(&threshold), Some("integer_below_min_value"), &low);
    assert_eq!(refused(entry(999.into())).await, low);
}

#[tokio::test]
async fn default_and_empty_thresholds_are_accepted() {
    let world = World::new().await;
    let client = world.client();
    for wish in [
        json!([]),
        json!(null),
        json!([{"type": "compaction"}]),
        json!([{"type": "compaction", "compact_threshold": null}]),
    ] {
        let asked = ask("Hello").model(SIM).field("context_management", wish);
        assert_eq!(client.respond(&asked).await.output().len(), 1);
    }
}
