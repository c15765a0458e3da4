//! What is kept here because the upstream, which keeps the state, cannot keep that.

use antiphon_gateway::settings::{Capabilities, Preset};
use serde_json::json;

use super::world::World;
use crate::support::{MODES, ask, text, typed_user};

/// A gateway whose upstream can do what OpenAI can, but for this.
async fn world(change: impl FnOnce(&mut Capabilities)) -> World {
    let mut capabilities = Preset::OpenAi.capabilities();
    change(&mut capabilities);
    World::with(|settings| settings.upstreams[0].capabilities = Some(capabilities)).await
}

#[tokio::test]
async fn gateway_stores_chains_without_upstream_support() {
    for mode in MODES {
        let world = world(|capabilities| capabilities.chains = false).await;
        let client = world.client();
        let first = client.turn(mode, &ask([typed_user("My dog is Rex.")])).await;
        let second = ask([typed_user("What is my dog?")]).after(first.id());
        let second = client.turn(mode, &second).await;

        assert_eq!(second.text(), "Rex");
        let sent = ["user: My dog is Rex.", "assistant: Noted.", "user: What is my dog?"];
        assert_eq!(world.sent(), sent);
        assert_eq!(world.last_turn().body["store"], false);
        assert!(world.provider.response_ids().is_empty(), "the provider keeps nothing");
    }
}

#[tokio::test]
async fn gateway_stores_conversations_without_upstream_support() {
    for mode in MODES {
        let world = world(|capabilities| capabilities.conversations = false).await;
        let client = world.client();
        let created = client.post("/v1/conversations", &json!({})).await.json();
        let conversation = text(&created["id"]);
        client.turn(mode, &ask([typed_user("My dog is Rex.")]).within(conversation)).await;
        let second = ask([typed_user("What is my dog?")]).within(conversation);

        assert_eq!(client.turn(mode, &second).await.text(), "Rex");
        assert_eq!(world.sent().len(), 3, "all of it is sent");
        let asked = world.provider.requests();
        assert!(asked.iter().all(|request| request.path == "/v1/responses"), "and nothing else is");
    }
}
