//! The real output of a call comes after a made-up one answered it.

use antiphon_gateway::settings::Capabilities;
use antiphon_mock::{Answer, Refusal, Reply};
use serde_json::{Value, json};

use super::world::World;
use crate::support::{Client, MODEL, MODES, Mode, ask, output, text, typed_user};

const SILENCE: &str = "output: No output was recorded for this call.";

/// A conversation in which a call was answered with nothing, because its output did not come.
async fn answered_with_nothing(world: &World, mode: Mode) -> (Client, String) {
    let (client, conversation) = (world.client(), world.conversation().await);
    world.provider.script(Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#));
    client.turn(mode, &ask([typed_user("Echo hi.")]).within(&conversation)).await;
    client.turn(mode, &ask([typed_user("Still there?")]).within(&conversation)).await;
    assert_eq!(world.sent(), [SILENCE, "user: Still there?"]);
    (client, conversation)
}

fn real() -> Value {
    output(&json!("call_1"), "hi")
}

#[tokio::test]
async fn late_output_replaces_the_placeholder() {
    for mode in MODES {
        let world = World::new().await;
        let (client, conversation) = answered_with_nothing(&world, mode).await;

        let late = client.turn(mode, &ask([real()]).within(&conversation)).await;

        assert_eq!(world.sent(), ["output: hi"]);
        assert!(!world.holds(&conversation).contains(&SILENCE.to_owned()));
        assert_eq!(world.provider.refusals(), []);
        let repairs = client.report(late.id()).await["repairs"].clone();
        let action = |fault: &str, action: &str| {
            let repairs = repairs.as_array().expect("they are a list").iter();
            repairs.clone().any(|it| it["fault"] == fault && it["action"] == action)
        };
        assert!(action("late_output", "deleted_upstream"), "{repairs}");
        assert!(action("late_output", "replaces"), "{repairs}");

        client.turn(mode, &ask([real(), typed_user("Thanks.")]).within(&conversation)).await;
        assert_eq!(world.sent(), ["user: Thanks."]);
    }
}

#[tokio::test]
async fn failed_replacement_restores_the_placeholder() {
    for mode in MODES {
        let world = World::new().await;
        let (client, conversation) = answered_with_nothing(&world, mode).await;
        let refusal = Refusal::for_input("No.".to_owned());
        world.provider.script(Reply::refusal(&refusal));
        client.refused(mode, &ask([real()]).within(&conversation)).await;

        client.turn(mode, &ask([typed_user("Well?")]).within(&conversation)).await;
        assert_eq!(world.sent(), [SILENCE, "user: Well?"]);
        client.turn(mode, &ask([real()]).within(&conversation)).await;
        assert_eq!(world.sent(), ["output: hi"]);
        assert_eq!(world.provider.refusals(), []);
    }
}

#[tokio::test]
async fn late_output_in_a_chain_becomes_a_message() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        world.provider.script(Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#));
        let called = client.turn(mode, &ask([typed_user("Echo hi.")])).await;
        let asked = ask([typed_user("Still there?")]).after(called.id());
        let there = client.turn(mode, &asked).await;

        let received = client.turn(mode, &ask([real()]).after(there.id())).await;

        assert_told(&world);
        let again = ask([real(), typed_user("Thanks.")]).after(received.id());
        client.turn(mode, &again).await;
        assert_eq!(world.sent(), ["user: Thanks."]);
        assert_eq!(world.provider.refusals(), []);
    }
}

#[tokio::test]
async fn late_output_without_deletion_becomes_a_message() {
    for mode in MODES {
        let world = World::with(|settings| {
            let capabilities = settings.upstreams[0].capabilities.expect("they are told");
            settings.upstreams[0].capabilities =
                Some(Capabilities { item_deletion: false, ..capabilities });
        })
        .await;
        let (client, conversation) = answered_with_nothing(&world, mode).await;
        let late = client.turn(mode, &ask([real()]).within(&conversation)).await;
        assert_told(&world);
        let repair = &client.report(late.id()).await["repairs"][0];
        assert_eq!(
            (repair["fault"].as_str(), repair["action"].as_str()),
            (Some("late_output"), Some("told"))
        );
    }
}

/// A message of the user's told the output, and nothing else was sent.
fn assert_told(world: &World) {
    let turn = world.last_turn();
    let [message] = turn.input() else { panic!("one item was sent: {}", turn.body) };
    assert_eq!(message["role"], "user");
    let words = |part: usize| text(&message["content"][part]["text"]).to_owned();
    assert!(words(0).contains("call_1"), "{message}");
    assert_eq!(words(1), "hi");
}

#[tokio::test]
async fn known_placeholder_is_not_new() {
    for mode in MODES {
        let world = World::new().await;
        let (client, conversation) = answered_with_nothing(&world, mode).await;
        let made_up = output(&json!("call_1"), "No output was recorded for this call.");
        let asked = ask([made_up, typed_user("Go on.")]).within(&conversation);
        client.turn(mode, &asked).await;
        assert_eq!(world.sent(), ["user: Go on."]);
    }
}
