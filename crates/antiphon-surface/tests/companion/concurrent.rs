//! Several turns of one conversation at once.

use antiphon_provider::{OnAbort, Script};
use antiphon_testkit::Answer;
use serde_json::json;

use crate::world::{MODEL, MODES, Mode, World, thinking_and_calling, user};

#[tokio::test]
async fn one_that_finds_it_locked_is_refused_and_leaves_nothing_wrong() {
    for mode in MODES {
        let world = World::new().await;
        world.provider.on_abort(OnAbort::Part);
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
        assert_eq!(third.mends(), [("unanswered_call", "answered")]);
        world.turn(mode, body("Bye.")).await;
        assert_eq!(world.provider.refusals().len(), 5, "it waited four times");
    }
}

#[tokio::test]
async fn one_that_finds_it_locked_goes_on_behind_the_other() {
    for outcome in [OnAbort::Part, OnAbort::Whole, OnAbort::Nothing] {
        let world = World::new().await;
        world.provider.on_abort(outcome);
        let conversation = world.conversation().await;
        let body = |text: &str| json!({"conversation": conversation, "input": [user(text)]});
        let exchange = world.provider.script(Script::from(thinking_and_calling()).hang_after(2));
        let mut first = world.begin(Mode::Streamed, body("Echo hi.")).await.expect("it is free");
        first.events(2).await;
        drop(first);
        *world.awaited.lock().expect("nobody panics with it") = Some(exchange);
        world.turn(Mode::Streamed, body("Never mind.")).await;
        world.turn(Mode::Whole, body("Bye.")).await;
    }
}

#[tokio::test]
async fn one_that_was_planned_before_another_ended_is_sent_once_more() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let body = |text: &str| {
        json!({"conversation": conversation, "input": [user(text)], "model": MODEL}).to_string()
    };
    world.turn(Mode::Whole, json!({"conversation": conversation, "input": "Hi."})).await;
    // Planned, and not sent yet.
    let waiting = world.companion.open("account", body("Who am I?").into()).unwrap();
    world.provider.script(thinking_and_calling());
    let first = json!({"conversation": conversation, "input": [user("Echo hi.")]});
    world.turn(Mode::Whole, first).await;
    let waiting = world.go_on(waiting).await;
    assert_eq!(waiting.report.relearned, Some("unanswered_call"));
    world.provider.script(Answer::new(MODEL).message("Bye."));
    let last = json!({"conversation": conversation, "input": [user("Bye.")]});
    assert_eq!(world.turn(Mode::Whole, last).await.mends(), []);
}

#[tokio::test]
async fn many_at_once_leave_a_conversation_that_holds_each_once() {
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
    let held = world.holds(&conversation);
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
