//! Several simultaneous turns of one conversation.

use antiphon_mock::{Answer, OnAbort, Script};
use serde_json::json;

use crate::world::{MODEL, MODES, Mode, World, thinking_and_calling, user};

#[tokio::test]
async fn turn_on_locked_conversation_is_refused_cleanly() {
    for mode in MODES {
        let world = World::new().await;
        world.provider.set_on_abort(OnAbort::StorePart);
        let conversation = world.conversation().await;
        let body = |text: &str| json!({"conversation": conversation, "input": [user(text)]});
        let exchange = world.provider.script(Script::from(thinking_and_calling()).hang_after(2));
        let mut first = world.begin(Mode::Streamed, body("Echo hi.")).await.unwrap();
        first.events(2).await;
        let second = world.attempt(mode, body("And me?")).await;
        assert_eq!(second.body["error"]["code"], "conversation_locked");
        exchange.release_all();
        first.heard(Mode::Streamed).await;

        let third = world.turn(mode, body("Never mind.")).await;
        assert_eq!(third.repairs(), [("unanswered_call", "answered")]);
        world.turn(mode, body("Bye.")).await;
        assert_eq!(world.provider.refusals().len(), 5, "it retried four times");
    }
}

#[tokio::test]
async fn turn_on_locked_conversation_waits_for_the_other() {
    for outcome in [OnAbort::StorePart, OnAbort::StoreWhole, OnAbort::StoreNothing] {
        let world = World::new().await;
        world.provider.set_on_abort(outcome);
        let conversation = world.conversation().await;
        let body = |text: &str| json!({"conversation": conversation, "input": [user(text)]});
        let exchange = world.provider.script(Script::from(thinking_and_calling()).hang_after(2));
        let mut first =
            world.begin(Mode::Streamed, body("Echo hi.")).await.expect("the conversation is free");
        first.events(2).await;
        drop(first);
        *world.awaited.lock().expect("no holder panics") = Some(exchange);
        world.turn(Mode::Streamed, body("Never mind.")).await;
        world.turn(Mode::Whole, body("Bye.")).await;
    }
}

#[tokio::test]
async fn stale_plan_is_sent_again() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let body = |text: &str| {
        json!({"conversation": conversation, "input": [user(text)], "model": MODEL}).to_string()
    };
    world.turn(Mode::Whole, json!({"conversation": conversation, "input": "Hi."})).await;
    // The turn is planned but not sent yet.
    let waiting = world.client.open("account", body("Who am I?").into()).unwrap();
    world.provider.script(thinking_and_calling());
    let first = json!({"conversation": conversation, "input": [user("Echo hi.")]});
    world.turn(Mode::Whole, first).await;
    let waiting = world.run_opened(waiting).await;
    assert_eq!(waiting.report.resynced_after, Some("unanswered_call"));
    world.provider.script(Answer::new(MODEL).message("Bye."));
    let last = json!({"conversation": conversation, "input": [user("Bye.")]});
    assert_eq!(world.turn(Mode::Whole, last).await.repairs(), []);
}

#[tokio::test]
async fn concurrent_turns_are_each_stored_once() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let turns = (0..8).map(|number| {
        let text = format!("Line {number}.");
        let body = json!({"conversation": conversation, "input": [user(&text)]});
        world.attempt(Mode::Streamed, body)
    });
    let mut answered = 0;
    for turn in join(turns).await {
        answered += usize::from(turn.status == 200);
    }
    let bye = json!({"conversation": conversation, "input": [user("Bye.")]});
    world.turn(Mode::Whole, bye).await;
    let held = world.stored_items(&conversation);
    let users = held.iter().filter(|line| line.starts_with("user: Line")).count();
    assert_eq!(users, answered);
}

async fn join<T>(turns: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut turns: Vec<_> = turns.map(Box::pin).collect();
    let mut done: Vec<Option<T>> = turns.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (turn, done) in turns.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(it) = turn.as_mut().poll(context)
            {
                *done = Some(it);
            }
        }
        match done.iter().all(Option::is_some) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    done.into_iter().flatten().collect()
}
