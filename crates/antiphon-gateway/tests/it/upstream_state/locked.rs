//! Somebody else has the conversation at the provider.

use std::time::Duration;

use antiphon_provider::Script;
use antiphon_testkit::Answer;

use super::world::World;
use crate::support::{MODEL, MODES, ask, typed_user};

#[tokio::test]
async fn it_is_waited_for() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let exchange =
            world.provider.script(Script::from(Answer::new(MODEL).message("Hi.")).gated());
        let theirs = ask([typed_user("Hello.")]).within(&conversation);
        let theirs = world.past_gateway().stream(&theirs).await;
        let before = world.provider.requests().len();

        let client = world.client();
        let next = ask([typed_user("And me?")]).within(&conversation);
        let turn = client.turn(mode, &next);
        let freeing = async {
            // It lists the conversation first, which it has not heard of.
            let refused = world.provider.request(before + 1).await;
            assert!(refused.verdict.is_err(), "the conversation is locked");
            exchange.release_all();
            theirs.all().await;
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
            world.provider.script(Script::from(Answer::new(MODEL).message("Hi.")).gated());
        let theirs = ask([typed_user("Hello.")]).within(&conversation);
        let theirs = world.past_gateway().stream(&theirs).await;

        let next = ask([typed_user("And me?")]).within(&conversation);
        let refused = world.client().refused(mode, &next).await;

        assert_eq!(refused.body["error"]["code"], "conversation_locked");
        exchange.release_all();
        theirs.all().await;
    }
}
