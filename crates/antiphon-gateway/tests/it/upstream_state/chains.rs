//! Chains of responses that the provider keeps.

use antiphon_mock::{Answer, InputItems, OnAbort, Options, StrictProvider};
use serde_json::json;

use super::world::World;
use crate::support::{Ask, MODEL, MODES, ask, invalid, output, typed_user};

#[tokio::test]
async fn chain_uses_the_providers_ids() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let first = client.turn(mode, &ask([typed_user("My dog is Rex.")])).await;
        let second = client.turn(mode, &ask([typed_user("And so?")]).after(first.id())).await;
        let third = ask([typed_user("What is my dog?")]).after(second.id());
        let third = client.turn(mode, &third).await;

        assert_eq!(third.text(), "Rex");
        assert_eq!(world.sent(), ["user: What is my dog?"]);
        assert_eq!(world.last_turn().body["previous_response_id"], second.id());
        for turn in [&first, &second, &third] {
            assert!(world.provider.response(turn.id()).is_some(), "{} is its id", turn.id());
        }
        assert_eq!(world.times_learnt(), 0);
    }
}

#[tokio::test]
async fn two_turns_from_one_response_are_branches() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let root = client.turn(mode, &ask([typed_user("My dog is Rex.")])).await;
        client.turn(mode, &ask([typed_user("One.")]).after(root.id())).await;
        client.turn(mode, &ask([typed_user("Two.")]).after(root.id())).await;
        assert_eq!(world.given(), ["user: My dog is Rex.", "assistant: Noted.", "user: Two."]);
    }
}

#[tokio::test]
async fn replay_after_a_response_sends_only_new_items() {
    for mode in MODES {
        let world = World::new().await;
        world.provider.script(Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#));
        let first = world.client().turn(mode, &ask([typed_user("Echo hi.")])).await;
        let mut replay = vec![typed_user("Echo hi.")];
        replay.extend(first.output().iter().cloned());
        replay.push(output(&json!("call_1"), "hi"));
        world.client().turn(mode, &ask(replay).after(first.id())).await;
        assert_eq!(world.sent(), ["output: hi"]);
    }
}

#[tokio::test]
async fn chain_from_elsewhere_is_synced() {
    for mode in MODES {
        let world = World::new().await;
        let direct = world.past_gateway();
        let first = direct.respond(&ask([typed_user("My dog is Rex.")])).await;
        let second = direct.respond(&ask([typed_user("And so?")]).after(first.id())).await;

        let replay = [
            typed_user("My dog is Rex."),
            first.item("message").clone(),
            typed_user("And so?"),
            second.item("message").clone(),
            typed_user("What is my dog?"),
        ];
        let third = world.client().turn(mode, &ask(replay).after(second.id())).await;
        assert_eq!(third.text(), "Rex");
        assert_eq!(world.sent(), ["user: What is my dog?"]);
        let learnt = world.times_learnt();

        world.client().turn(mode, &ask([typed_user("Thanks.")]).after(second.id())).await;
        assert_eq!(world.times_learnt(), learnt, "it is known by now");
    }
}

#[tokio::test]
async fn unknown_response_gets_the_providers_error() {
    for mode in MODES {
        let world = World::new().await;
        let unknown = format!("resp_{}", "0".repeat(50));
        let refused = world.client().refused(mode, &ask("Hi.").after(&unknown)).await;
        let message = format!("Previous response with id '{unknown}' not found.");
        let expected =
            invalid(Some("previous_response_id"), Some("previous_response_not_found"), &message);
        assert_eq!(refused, expected);
    }
}

#[tokio::test]
async fn unstored_response_leaves_nothing() {
    for mode in MODES {
        let world = World::new().await;
        let root = world.client().turn(mode, &ask([typed_user("My dog is Rex.")])).await;
        let last = ask([typed_user("What is my dog?")]).after(root.id()).unstored();
        let last = world.client().turn(mode, &last).await;
        assert_eq!(last.text(), "Rex");
        assert_eq!(world.provider.response(last.id()), None);
        let behind = ask([typed_user("Thanks.")]).after(last.id());
        assert_eq!(world.client().refused(mode, &behind).await.status, 400);
    }
}

#[tokio::test]
async fn cumulative_input_list_doubles_nothing() {
    for list in [InputItems::Own, InputItems::All] {
        let options =
            Options { input_items: list, on_abort: OnAbort::StoreWhole, ..Options::default() };
        let world = World::of(StrictProvider::with_options(options).start().await).await;
        let client = world.client();
        let first = client.respond(&ask([typed_user("My dog is Rex.")])).await;
        let left = leave(&world, &ask([typed_user("And so?")]).after(first.id())).await;

        let replay = [
            typed_user("My dog is Rex."),
            first.item("message").clone(),
            typed_user("And so?"),
            typed_user("What is my dog?"),
        ];
        client.respond(&ask(replay).after(&left)).await;
        assert_eq!(world.sent(), ["user: What is my dog?"], "{list:?}");
    }
}

/// A caller leaves in the middle of an answer; the response's id.
async fn leave(world: &World, asked: &Ask) -> String {
    let answer = Answer::new(MODEL).message("So it is.");
    world.abort_at("response.output_text.delta", answer, asked).await
}
