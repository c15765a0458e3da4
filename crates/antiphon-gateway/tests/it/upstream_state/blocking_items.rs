//! Stored items that block every request are deleted at the provider, once.

use antiphon_gateway::settings::Capabilities;
use antiphon_mock::{Answer, OnAbort};
use http::Method;
use serde_json::json;

use super::world::World;
use crate::support::{MODEL, MODES, ask, typed_user};

/// A caller leaves when the model has thought and not yet spoken; the provider keeps the thought.
async fn left_thinking(world: &World, asked: &crate::support::Ask) -> String {
    world.provider.set_on_abort(OnAbort::StorePart);
    let answer = Answer::new(MODEL).reasoning("Hm.").message("Hello.");
    world.abort_at("response.output_item.done", answer, asked).await
}

fn deletions(world: &World) -> usize {
    let requests = world.provider.requests();
    requests.iter().filter(|request| request.method == Method::DELETE).count()
}

#[tokio::test]
async fn lone_reasoning_is_deleted_once() {
    for mode in MODES {
        let world = World::new().await;
        let (client, conversation) = (world.client(), world.conversation().await);
        left_thinking(&world, &ask([typed_user("Hello.")]).within(&conversation)).await;
        assert_eq!(world.holds(&conversation), ["user: Hello.", "reasoning"]);

        let next = client.turn(mode, &ask([typed_user("Hey?")]).within(&conversation)).await;

        assert_eq!(world.given(), ["user: Hello.", "user: Hey?"]);
        assert_eq!(world.provider.refusals(), []);
        let repair = &client.report(next.id()).await["repairs"][0];
        assert_eq!(repair["fault"], "lone_reasoning");
        assert_eq!(repair["action"], "deleted_upstream");
        client.turn(mode, &ask([typed_user("Thanks.")]).within(&conversation)).await;
        assert_eq!(deletions(&world), 1);
    }
}

#[tokio::test]
async fn call_without_a_placeholder_is_deleted() {
    for mode in MODES {
        let world = World::new().await;
        let (client, conversation) = (world.client(), world.conversation().await);
        let screenshot = json!({
            "type": "computer_call", "id": "cu_1", "call_id": "call_1", "status": "completed",
            "action": {"type": "screenshot"}, "pending_safety_checks": [],
        });
        world.past_gateway().add_items(&conversation, &[screenshot]).await;

        let next = client.turn(mode, &ask([typed_user("Hello.")]).within(&conversation)).await;

        assert_eq!(world.given(), ["user: Hello."]);
        let repair = &client.report(next.id()).await["repairs"][0];
        assert_eq!(
            (repair["fault"].as_str(), repair["action"].as_str()),
            (Some("unanswered_call"), Some("deleted_upstream"))
        );
    }
}

#[tokio::test]
async fn undeletable_items_return_the_providers_error() {
    for mode in MODES {
        let world = World::with(|settings| {
            let capabilities = settings.upstreams[0].capabilities.expect("they are told");
            settings.upstreams[0].capabilities =
                Some(Capabilities { item_deletion: false, ..capabilities });
        })
        .await;
        let conversation = world.conversation().await;
        left_thinking(&world, &ask([typed_user("Hello.")]).within(&conversation)).await;
        let next = ask([typed_user("Hey?")]).within(&conversation);
        let refused = world.client().refused(mode, &next).await;
        let message = refused.body["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("without its required following item"), "{message}");
        assert_eq!(deletions(&world), 0);
    }
}

#[tokio::test]
async fn chain_takes_a_detour_around_lone_reasoning() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let first = client.turn(mode, &ask([typed_user("My dog is Rex.")])).await;
        let asked = ask([typed_user("What is my dog?")]).after(first.id());
        let left = left_thinking(&world, &asked).await;

        let next = client.turn(mode, &ask([typed_user("Well?")]).after(&left)).await;

        let reply =
            ["user: My dog is Rex.", "assistant: Noted.", "user: What is my dog?", "user: Well?"];
        assert_eq!(world.given(), reply);
        assert_eq!(world.last_turn().body["previous_response_id"], first.id());
        assert_eq!(world.provider.refusals(), []);
        let repair = &client.report(next.id()).await["repairs"][0];
        assert_eq!(
            (repair["fault"].as_str(), repair["action"].as_str()),
            (Some("lone_reasoning"), Some("left_behind"))
        );

        let learnt = world.times_learnt();
        client.turn(mode, &ask([typed_user("Thanks.")]).after(next.id())).await;
        assert_eq!(world.sent(), ["user: Thanks."]);
        assert_eq!(world.times_learnt(), learnt, "all of it is known");
    }
}

#[tokio::test]
async fn chain_starting_with_lone_reasoning_continues() {
    for mode in MODES {
        let world = World::new().await;
        let left = left_thinking(&world, &ask([typed_user("Hello.")])).await;
        world.client().turn(mode, &ask([typed_user("Hey?")]).after(&left)).await;
        assert_eq!(world.given(), ["user: Hello.", "user: Hey?"]);
        assert_eq!(world.provider.refusals(), []);
    }
}
