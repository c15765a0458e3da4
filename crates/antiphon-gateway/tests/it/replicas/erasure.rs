//! A tenant's data is erased while its turns are open.

use super::start_tale;
use crate::support::{World, ask};

const ERASED: &str = "All data of this account was erased while this request was working on it.";

/// Where a turn begins.
#[derive(Clone, Copy, Debug)]
enum Start {
    New,
    AfterResponse,
    InConversation,
}

#[tokio::test]
async fn erasure_fails_an_open_turn() {
    for begun in [Start::New, Start::AfterResponse, Start::InConversation] {
        let world = World::replicas(1).await;
        let client = world.client();
        let received = client.respond(&ask("My color is purple")).await;
        let conversation = client.new_conversation().await;
        let tale = ask("Tell me a tale");
        let tale = match begun {
            Start::New => tale,
            Start::AfterResponse => tale.after(received.id()),
            Start::InConversation => tale.within(&conversation),
        };
        let (events, id, exchange) = start_tale(&world, &client, &tale).await;

        world.erase_all_tenants().await;
        exchange.release_all();

        let turn = events.ended().await;
        assert_eq!((turn.status(), turn.id()), ("failed", &*id), "{begun:?}");
        assert_eq!(turn.response["error"]["message"], ERASED);
        assert_store_is_empty(&world).await;
    }
}

async fn assert_store_is_empty(world: &World) {
    for table in ["threads", "segments", "item_ids", "conversations", "pending_turns"] {
        let held = world.database().sql(&format!("SELECT tenant FROM {table}")).await;
        assert_eq!(held, [""; 0], "{table}");
    }
}
