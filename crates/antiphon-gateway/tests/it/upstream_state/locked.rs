//! Somebody else has the conversation at the provider.

use std::time::Duration;

use antiphon_provider::Script;
use antiphon_testkit::Answer as Scripted;
use tokio::task::JoinHandle;

use super::world::World;
use crate::support::{Answer, Ask, MODEL, MODES, Mode, ask, typed_user};

/// A turn that is open at the provider, past the gateway.
async fn somebody_elses(world: &World, asked: Ask) -> JoinHandle<Answer> {
    let (client, turns) = (world.past_gateway(), world.provider.requests().len());
    let turn = tokio::spawn(async move { client.create(Mode::Streamed, &asked).await });
    world.provider.request(turns).await;
    turn
}

#[tokio::test]
async fn it_is_waited_for() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let exchange =
            world.provider.script(Script::from(Scripted::new(MODEL).message("Hi.")).gated());
        let theirs = ask([typed_user("Hello.")]).within(&conversation);
        let theirs = somebody_elses(&world, theirs).await;
        let before = world.provider.requests().len();

        let client = world.client();
        let next = ask([typed_user("And me?")]).within(&conversation);
        let turn = client.turn(mode, &next);
        let freeing = async {
            // It lists the conversation first, which it has not heard of.
            let refused = world.provider.request(before + 1).await;
            assert!(refused.verdict.is_err(), "the conversation is locked");
            exchange.release_all();
            theirs.await.expect("it ends");
        };
        let (told, _) = tokio::join!(turn, freeing);

        assert_eq!(told.status(), "completed");
        assert_eq!(world.given(), ["user: Hello.", "assistant: Hi.", "user: And me?"]);
        assert_eq!(told.header("antiphon-relearned"), None);
    }
}

#[tokio::test]
async fn not_for_longer_than_a_turn_may_wait() {
    for mode in MODES {
        let world = World::with(|settings| settings.turn_wait = Duration::ZERO).await;
        let conversation = world.conversation().await;
        let exchange =
            world.provider.script(Script::from(Scripted::new(MODEL).message("Hi.")).gated());
        let theirs = ask([typed_user("Hello.")]).within(&conversation);
        let theirs = somebody_elses(&world, theirs).await;

        let next = ask([typed_user("And me?")]).within(&conversation);
        let refused = world.client().refused(mode, &next).await;

        assert_eq!(refused.body["error"]["code"], "conversation_locked");
        exchange.release_all();
        theirs.await.expect("it ends");
    }
}
