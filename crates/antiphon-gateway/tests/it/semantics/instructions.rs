//! `instructions`: for one response, and no other.

use serde_json::Value;

use super::{ANTHROPIC, APIS, Spoken};
use crate::support::{MODES, World, ask, lines};

/// What the upstream was instructed with the latest request.
fn instructed(spoken: Spoken, world: &World) -> bool {
    let body = world.last_request().body;
    let received = match spoken.dialect == ANTHROPIC.dialect {
        true => body["system"].clone(),
        false => body.get("instructions").cloned().unwrap_or_else(|| body["messages"].clone()),
    };
    received.to_string().contains("Be brief.")
}

#[tokio::test]
async fn instructions_are_sent_and_echoed() {
    for spoken in APIS {
        for mode in MODES {
            let world = spoken.world().await;
            let client = world.client();
            let turn = client.turn(mode, &ask("Hello").field("instructions", "Be brief.")).await;
            assert!(instructed(spoken, &world), "{spoken:?}");
            assert_eq!(turn.response["instructions"], "Be brief.");
            assert_eq!(client.kept(turn.id()).await["instructions"], "Be brief.");
        }
    }
}

#[tokio::test]
async fn instructions_do_not_carry_over() {
    for spoken in APIS {
        for mode in MODES {
            let world = spoken.world().await;
            let client = world.client();
            let received =
                client.turn(mode, &ask("Hello").field("instructions", "Be brief.")).await;

            let next = client.turn(mode, &ask("Hello").after(received.id())).await;

            assert!(!instructed(spoken, &world), "{spoken:?}");
            assert_eq!(next.response["instructions"], Value::Null);
        }
    }
}

#[tokio::test]
async fn a_conversation_does_not_hold_them() {
    for spoken in APIS {
        for mode in MODES {
            let world = spoken.world().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            let say = |text: &str| ask(text).within(&conversation);
            client.turn(mode, &say("Hello").field("instructions", "Be brief.")).await;
            client.turn(mode, &say("Hello")).await;
            assert!(!instructed(spoken, &world), "{spoken:?}");
            let held = lines(&client.items(&conversation).await);
            assert!(held.iter().all(|line| !line.contains("Be brief.")), "{held:?}");
        }
    }
}
