//! Anthropic's headers go to its upstreams only.

use antiphon_gateway::settings::Secret;
use serde_json::json;

use super::{client_of, create, request, text, user};
use crate::client_apis::{UPSTREAMS, world_of, world_with};
use crate::support::Mode;

/// A request that passes unchanged to an Anthropic upstream, and one that needs a repair.
fn requests() -> [serde_json::Value; 2] {
    [request(&json!([user("Hello")])), request(&json!([user(json!([text("Hello"), text("")]))]))]
}

#[tokio::test]
async fn version_and_betas_reach_anthropic() {
    for (api, name) in UPSTREAMS {
        let is_anthropic = name == antiphon_mock::Api::Anthropic;
        for request in requests() {
            let world = world_of(api).await;
            let client = client_of(&world).with_header("anthropic-beta", "one-2025-01-01");
            create(&client, Mode::Whole, &request).await;
            let sent = world.request(0).await;
            let header = |name| sent.headers.get(name).and_then(|value| value.to_str().ok());
            let expected = |value| is_anthropic.then_some(value);
            assert_eq!(header("anthropic-beta"), expected("one-2025-01-01"), "{name:?}");
            assert_eq!(header("anthropic-version"), expected("2023-06-01"), "{name:?}");
            assert_eq!(header("x-api-key"), expected("key-of-alice"), "{name:?}");
            let bearer = (!is_anthropic).then_some("Bearer key-of-alice");
            assert_eq!(sent.authorization(), bearer, "{name:?}");
        }
    }
}

#[tokio::test]
async fn operators_key_replaces_the_callers() {
    for (api, name) in UPSTREAMS {
        for request in requests() {
            let world = world_with(api, |settings| {
                settings.upstreams[0].key = Some(Secret::new("key-of-the-gateway"));
            })
            .await;
            create(&client_of(&world), Mode::Whole, &request).await;
            let sent = world.request(0).await;
            let headers = format!("{:?}", sent.headers);
            assert!(headers.contains("key-of-the-gateway"), "{name:?}: {headers}");
            assert!(!headers.contains("key-of-alice"), "{name:?}: {headers}");
        }
    }
}
