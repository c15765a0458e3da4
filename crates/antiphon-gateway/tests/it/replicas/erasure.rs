//! A tenant's data is erased while its turns are open.

use super::a_tale_begun;
use crate::support::{World, ask};

const ERASED: &str = "All data of this account was erased while this request was working on it.";

/// Where a turn begins.
#[derive(Clone, Copy, Debug)]
enum Begun {
    Anew,
    BehindAResponse,
    InAConversation,
}

#[tokio::test]
async fn erasure_fails_an_open_turn() {
    for begun in [Begun::Anew, Begun::BehindAResponse, Begun::InAConversation] {
        let world = World::replicas(1).await;
        let client = world.client();
        let received = client.respond(&ask("My color is purple")).await;
        let conversation = client.new_conversation().await;
        let tale = ask("Tell me a tale");
        let tale = match begun {
            Begun::Anew => tale,
            Begun::BehindAResponse => tale.after(received.id()),
            Begun::InAConversation => tale.within(&conversation),
        };
        let (events, id, exchange) = a_tale_begun(&world, &client, &tale).await;

        world.erase_everybody().await;
        exchange.release_all();

        let turn = events.ended().await;
        assert_eq!((turn.status(), turn.id()), ("failed", &*id), "{begun:?}");
        assert_eq!(turn.response["error"]["message"], ERASED);
        assert_nothing_is_held(&world).await;
    }
}

async fn assert_nothing_is_held(world: &World) {
    for table in ["threads", "items", "item_places", "responses", "conversations", "openings"] {
        let held = world.database().sql(&format!("SELECT tenant FROM {table}")).await;
        assert_eq!(held, [""; 0], "{table}");
    }
}
