//! Binding at the first turn, for tenants that share an account, sockets and background streams.

use antiphon_gateway::settings::{ApiKey, Secret};
use antiphon_mock::{Answer as Scripted, Script};
use antiphon_store::Tenant;
use serde_json::json;

use super::late_binding::{World, at_two, creations};
use crate::support::{Mode, ask, create, frames_until, lines, soon, typed_user};

#[tokio::test]
async fn pending_conversation_is_its_tenants_alone() {
    let world = World::new().await;
    let id = world.client().new_conversation().await;
    let other = world.gateways.caller("token-of-bob");
    let refused = other.refused(Mode::Whole, &at_two("Hi.", &id)).await;
    assert_eq!(refused.status, 404);
    world.client().respond(&at_two("Hi.", &id)).await;
    let refused = other.refused(Mode::Whole, &at_two("Hi.", &id)).await;
    assert_eq!(refused.status, 404);
    assert_eq!(world.held_by_two().len(), 2);
}

#[tokio::test]
async fn items_of_other_tenants_are_not_bound() {
    let world = World::with(|settings| {
        let keys = [("sk-of-acme", "acme"), ("sk-of-umbrella", "umbrella")];
        settings.api_keys = keys.map(|(key, tenant)| ApiKey::new(key, Tenant::new(tenant))).into();
        settings.upstreams[1].key = Some(Secret::new("sk-of-the-operator"));
    })
    .await;
    let client = world.gateways.caller("sk-of-acme");
    for foreign in [
        json!({"type": "image_generation_call", "id": "ig_of_another"}),
        json!({"type": "reasoning", "id": "rs_of_another", "summary": []}),
    ] {
        let id = client.new_conversation().await;
        let added = client.add_items(&id, &[typed_user("Hi."), foreign]).await;
        let refused = client.refused(Mode::Whole, &at_two("Look.", &id)).await;
        assert!((400..500).contains(&refused.status), "{refused:?}");
        assert_eq!(world.two.requests().len(), 0);

        let item = added[1]["id"].as_str().expect("it has an id");
        client.delete(&format!("/v1/conversations/{id}/items/{item}")).await.json();
    }
    let id = client.new_conversation().await;
    client.add_items(&id, &[typed_user("My dog is Rex.")]).await;
    let turn = client.respond(&at_two("What is my dog?", &id)).await;
    assert_eq!((turn.text(), &turn.response["conversation"]["id"]), ("Rex", &json!(id)));
    let kept = client.stored_response(turn.id()).await;
    assert_eq!(kept["conversation"]["id"], id);
    let stranger = world.gateways.caller("sk-of-umbrella");
    assert_eq!(stranger.refused(Mode::Whole, &at_two("Hi.", &id)).await.status, 404);
}

#[tokio::test]
async fn first_turn_can_use_a_websocket() {
    let world = World::new().await;
    let id = world.client().new_conversation().await;
    let mut socket = world.client().socket().await;
    socket.send(&create(&at_two("Hi.", &id).field("generate", false))).await;
    let (status, error) = socket.refused().await;
    assert_eq!((status, &error["param"]), (400, &"generate".into()));
    assert_eq!(creations(&world.two), 0);

    for reply in ["My dog is Rex.", "What is my dog?"] {
        let turn = socket.turn(&at_two(reply, &id)).await;
        assert_eq!(turn.response["conversation"]["id"], id);
    }
    assert_eq!(lines(world.two.turns()[1].input()), ["user: What is my dog?"]);
    assert_eq!((creations(&world.two), world.held_by_two().len()), (1, 4));
}

#[tokio::test]
async fn abandoned_background_stream_shows_our_id() {
    let world = World::new().await;
    let id = world.client().new_conversation().await;
    let tale = Scripted::new("two-1").message("Once upon a time");
    let begun = frames_until(&tale, "response.output_text.delta");
    let exchange = world.two.script(Script::from(tale).hang_after(begun));
    let asked = at_two("A tale.", &id).field("background", true);
    let mut events = world.client().stream(&asked).await;
    let response = events.response_id().await;
    events.until("response.output_item.added").await;
    drop(events);
    soon("the provider is left", exchange.wait_for_disconnect()).await;
    exchange.release_all();

    world.client().wait_until_settled(&response).await;
    let ended = world.client().wait_until_ended(&response).await;
    assert_eq!((&ended["status"], &ended["conversation"]["id"]), (&json!("completed"), &json!(id)));
    for after in [None, Some("1")] {
        let after = after.map(|after| format!("&starting_after={after}")).unwrap_or_default();
        let path = format!("/v1/responses/{response}?stream=true{after}");
        let received = world.client().get(&path).await;
        let received = String::from_utf8_lossy(received.body()).into_owned();
        assert!(received.contains("response.completed"), "{received}");
        assert!(received.contains(&id) && !received.contains(&world.id_at_two()), "{received}");
    }
}

#[tokio::test]
async fn open_background_stream_shows_our_id() {
    let world = World::new().await;
    let id = world.client().new_conversation().await;
    let tale = Scripted::new("one-1").message("Once upon a time");
    let begun = frames_until(&tale, "response.output_text.delta");
    let exchange = world.one.script(Script::from(tale).hang_after(begun));
    let asked = ask([typed_user("A tale.")]).model("one-1").within(&id).field("background", true);
    let mut events = world.client().stream(&asked).await;
    let response = events.response_id().await;
    events.until("response.output_item.added").await;

    let shown = world.client().stored_response(&response).await;

    assert_eq!(shown["conversation"]["id"], id);
    exchange.release_all();
    assert_eq!(events.ended().await.response["conversation"]["id"], id);
}
