//! `instructions`: for one response, and no other.

use serde_json::Value;

use super::{ANTHROPIC, APIS, Dialect};
use crate::support::{MODES, World, ask, lines};

/// What the upstream was instructed with the latest request.
fn instructed(dialect: Dialect, world: &World) -> bool {
    let body = world.last_request().body;
    let received = match dialect.upstream == ANTHROPIC.upstream {
        true => body["system"].clone(),
        false => body.get("instructions").cloned().unwrap_or_else(|| body["messages"].clone()),
    };
    received.to_string().contains("Be brief.")
}

#[tokio::test]
async fn instructions_are_sent_and_echoed() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let turn = client.turn(mode, &ask("Hello").field("instructions", "Be brief.")).await;
            assert!(instructed(dialect, &world), "{dialect:?}");
            assert_eq!(turn.response["instructions"], "Be brief.");
            assert_eq!(client.stored_response(turn.id()).await["instructions"], "Be brief.");
        }
    }
}

#[tokio::test]
async fn instructions_do_not_carry_over() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let received =
                client.turn(mode, &ask("Hello").field("instructions", "Be brief.")).await;

            let next = client.turn(mode, &ask("Hello").after(received.id())).await;

            assert!(!instructed(dialect, &world), "{dialect:?}");
            assert_eq!(next.response["instructions"], Value::Null);
        }
    }
}

#[tokio::test]
async fn instructions_are_not_stored_in_the_conversation() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            let say = |text: &str| ask(text).within(&conversation);
            client.turn(mode, &say("Hello").field("instructions", "Be brief.")).await;
            client.turn(mode, &say("Hello")).await;
            assert!(!instructed(dialect, &world), "{dialect:?}");
            let held = lines(&client.items(&conversation).await);
            assert!(held.iter().all(|line| !line.contains("Be brief.")), "{held:?}");
        }
    }
}
