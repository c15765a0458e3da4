//! Conversations of the provider.

use serde_json::json;

use super::world::World;
use crate::support::{MODES, ask, not_found, typed_user};

#[tokio::test]
async fn deltas_reach_the_model_once_and_in_order() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        for reply in ["My color is red.", "My dog is Rex.", "What is my color?"] {
            world.client().turn(mode, &ask([typed_user(reply)]).within(&conversation)).await;
        }
        let whole = [
            "user: My color is red.",
            "assistant: Noted.",
            "user: My dog is Rex.",
            "assistant: Noted.",
            "user: What is my color?",
        ];
        assert_eq!(world.given(), whole);
        assert_eq!(world.sent(), ["user: What is my color?"]);
    }
}

#[tokio::test]
async fn new_conversation_is_synced_once() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let before = json!({"items": [typed_user("My dog is Rex.")]});
    let path = format!("/v1/conversations/{conversation}/items");
    world.past_gateway().post(&path, &before).await.json();

    let replay = [typed_user("My dog is Rex."), typed_user("What is my dog?")];
    let answer = world.client().respond(&ask(replay).within(&conversation)).await;
    world.client().respond(&ask([typed_user("Thanks.")]).within(&conversation)).await;

    assert_eq!(answer.text(), "Rex");
    assert_eq!(world.times_learnt(), 1);
    assert_eq!(world.holds(&conversation)[..2], ["user: My dog is Rex.", "user: What is my dog?"]);
}

#[tokio::test]
async fn unstored_turn_is_added_to_its_conversation() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let first = ask([typed_user("My dog is Rex.")]).within(&conversation).unstored();
        let first = world.client().turn(mode, &first).await;
        let second = ask([typed_user("What is my dog?")]).within(&conversation);
        let second = world.client().turn(mode, &second).await;

        assert_eq!(second.text(), "Rex");
        assert_eq!(world.provider.response(first.id()), None);
        assert_eq!(world.times_learnt(), 1);
    }
}

#[tokio::test]
async fn nothing_new_is_an_empty_input() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let reply = ask([typed_user("One.")]).within(&conversation);
        let first = world.client().turn(mode, &reply).await;
        let replay = [typed_user("One."), first.item("message").clone()];
        world.client().turn(mode, &ask(replay).within(&conversation)).await;
        assert_eq!(world.last_turn().body["input"], json!([]));
    }
}

#[tokio::test]
async fn unknown_conversation_gets_the_providers_error() {
    for mode in MODES {
        let world = World::new().await;
        let unknown = format!("conv_{}", "0".repeat(50));
        let refused = world.client().refused(mode, &ask("Hi.").within(&unknown)).await;
        let message = format!("Conversation with id '{unknown}' not found.");
        assert_eq!(refused, not_found(None, &message));
        assert_eq!(world.provider.turns().len(), 0);
    }
}

#[tokio::test]
async fn concurrent_turns_run_one_after_another() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let turn = |number: usize| {
        let (client, conversation) = (world.client(), conversation.clone());
        async move {
            let reply = typed_user(&format!("Number {number}."));
            client.respond(&ask([reply]).within(&conversation)).await
        }
    };
    futures_util::future::join_all((0..8).map(turn)).await;
    assert_eq!(world.provider.refusals(), []);
    assert_eq!(world.items(&conversation).len(), 16);
    assert_eq!(world.times_learnt(), 1);
}
