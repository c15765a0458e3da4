//! Answers that break off, with each outcome at the provider.

use antiphon_client::{EventKind, StateError};
use antiphon_mock::{Answer, OnAbort, Script};

use crate::support::{MODEL, World, output, user};

const OUTCOMES: [OnAbort; 3] = [OnAbort::StorePart, OnAbort::StoreWhole, OnAbort::StoreNothing];

/// Reads an answer up to its first complete item, then drops it.
async fn drop_after_first_item(world: &World, script: impl Into<Script>) {
    let exchange = world.provider.script(script);
    let answer = world.client.respond(world.request([user("Weather?")])).await;
    let mut answer = answer.expect("the provider accepts it");
    loop {
        let event = answer.next().await.expect("the item ends before the answer");
        let event = event.expect("the answer is whole up to here");
        if matches!(event.kind(), EventKind::ItemDone { .. }) {
            break;
        }
    }
    drop(answer);
    exchange.wait_for_disconnect().await;
    world.provider.wait_until_idle().await;
}

#[tokio::test]
async fn dropped_answer_leaves_a_usable_conversation() {
    for on_abort in OUTCOMES {
        let world = World::aborting(on_abort).await;
        let answer = Answer::new(MODEL).call("call_1", "get_weather", "{}").message("Wait.");
        let done = answer.frames().iter().position(is_item_done).unwrap();
        drop_after_first_item(&world, Script::from(answer).hang_after(done + 1)).await;

        // The same request again, as a client sends it that does not know the outcome.
        world.answer([user("Weather?")]).await;
        world.answer([user("Hello?")]).await;
        world.assert_clean();
        let stored = world.client.conversations().items(&world.conversation).await.unwrap();
        let texts = stored.iter().filter(|item| item.text().contains("Weather?")).count();
        assert_eq!(texts, 1, "{on_abort:?}");
    }
}

#[tokio::test]
async fn output_for_a_dropped_call_is_sent_if_the_server_has_the_call() {
    for (on_abort, is_sent) in [(OnAbort::StorePart, true), (OnAbort::StoreNothing, false)] {
        let world = World::aborting(on_abort).await;
        let answer = Answer::new(MODEL).call("call_1", "get_weather", "{}").message("Wait.");
        let done = answer.frames().iter().position(is_item_done).unwrap();
        drop_after_first_item(&world, Script::from(answer).hang_after(done + 1)).await;

        let posted = world.client.conversations();
        let posted = posted.deliver(&world.conversation, &[output("call_1", "sun")]).await.unwrap();
        assert_eq!(posted, usize::from(is_sent), "{on_abort:?}");
        world.answer([user("Hello?")]).await;
        world.assert_clean();
    }
}

#[tokio::test]
async fn broken_connection_is_an_error_after_output() {
    for on_abort in OUTCOMES {
        let world = World::aborting(on_abort).await;
        let answer = Answer::new(MODEL).message("One two three four five.");
        world.provider.script(Script::from(answer).break_after(5));
        let answer = world.client.respond(world.request([user("Hi")])).await.unwrap();
        let error = answer.finish().await.unwrap_err();
        assert!(error.has_emitted_output() && error.may_have_arrived(), "{error:?}");
        world.provider.wait_until_idle().await;

        // The same request again, as a client sends it that does not know the outcome.
        world.answer([user("Hi")]).await;
        world.assert_clean();
    }
}

#[tokio::test]
async fn locked_conversation_is_waited_for_then_refused() {
    let world = World::start().await;
    let exchange = world.provider.script(Script::from(Answer::new(MODEL).message("A")).gated());
    let open = world.client.respond(world.request([user("One")])).await.unwrap();

    let second = world.client.respond(world.request([user("Two")]).exact()).await.unwrap_err();
    assert_eq!(second.state_error(), Some(StateError::Locked));

    // Without `exact`, the client waits until the first answer has ended.
    let waiting = world.client.respond(world.request([user("Two")]));
    let release = async {
        let turns = world.provider.turns().len();
        while world.provider.turns().len() == turns {
            tokio::task::yield_now().await;
        }
        exchange.release_all();
        open.finish().await.unwrap();
    };
    let (answer, ()) = tokio::join!(waiting, release);
    answer.unwrap().finish().await.unwrap();
    assert_eq!(world.provider.duplicates(), []);
}

fn is_item_done(frame: &antiphon_mock::Frame) -> bool {
    frame.name() == Some("response.output_item.done")
}
