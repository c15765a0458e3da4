//! The items that sessions store.

use std::sync::Arc;

use antiphon::tracker::Returned;
use antiphon_agents::session::{SessionStore, StoreSessions};
use antiphon_agents::{State, user};
use futures_util::future::join_all;

use super::world::{Owner, SESSION, World, calls, drain, forms, says};

/// A filter sees the items of a request, and never changes stored ones.
#[tokio::test]
async fn b37_history_that_a_filter_reorders_or_copies_is_not_appended_again() {
    let world = World::new().await;
    world.script([says("One."), says("Two."), says("Three.")]);
    let copy = |items: Vec<Returned>| {
        let reversed = items.iter().rev().cloned();
        let input = reversed.filter(|it| it.item.text().contains("user"));
        input.chain(items.iter().take(1).cloned()).collect()
    };
    for text in ["one", "two", "three"] {
        let run = world.start(world.state(Owner::Session), text);
        run.filter_input(copy).into_result().await.unwrap();
    }
    let last = ["user: three", "user: two", "user: one", "user: one"];
    assert_eq!(world.inputs()[2], last);
    let stored = [
        "user: one",
        "assistant: One.",
        "user: two",
        "assistant: Two.",
        "user: three",
        "assistant: Three.",
    ];
    assert_eq!(forms(&world.session_items().await), stored);
}

#[tokio::test]
async fn b38_new_input_that_equals_stored_input_is_stored() {
    let world = World::new().await;
    world.script([says("Hello."), says("Hello.")]);
    for _ in 0..2 {
        world.run(world.state(Owner::Session), "hi").await;
    }
    let stored = ["user: hi", "assistant: Hello.", "user: hi", "assistant: Hello."];
    assert_eq!(forms(&world.session_items().await), stored);
    assert_eq!(world.inputs()[1], ["user: hi", "assistant: Hello.", "user: hi"]);
}

#[tokio::test]
async fn b39_tail_that_does_not_match_is_not_removed() {
    let world = World::new().await;
    let first = world.run(world.state(Owner::Session), "one").await;
    let second = world.run(world.state(Owner::Session), "two").await;
    let all = world.session_items().await;
    assert!(!world.sessions.pop(SESSION, first.items()).await.unwrap());
    assert_eq!(world.session_items().await, all);
    assert!(world.sessions.pop(SESSION, second.items()).await.unwrap());
    assert_eq!(world.session_items().await, first.items());
    world.run(world.state(Owner::Session), "three").await;
    assert_eq!(world.inputs()[2].len(), 3);
    assert!(!world.inputs()[2].contains(&"user: two".to_owned()));
}

/// The reference rewinds a session before each retry. A run needs no rewind: its items are stored
/// once, whatever happens to their request.
#[tokio::test]
async fn b39_retried_request_leaves_the_session_as_it_is() {
    let world = World::new().await;
    for _ in 0..3 {
        world.fail_next_turn(503);
    }
    world.script([says("One.")]);
    world.run(world.state(Owner::Session), "one").await;
    assert_eq!(forms(&world.session_items().await), ["user: one", "assistant: One."]);
}

#[tokio::test]
async fn b40_resumed_approval_stores_nothing_twice() {
    let world = World::new().await;
    let turn = calls("c1", "look_up", "Bonn").call("c2", "pay", r#"{"city":"Rome"}"#);
    world.script([turn, says("Done.")]);
    let mut run = world.start(world.state(Owner::Session), "go");
    drain(&mut run).await;
    for _ in 0..2 {
        run = world.restart(run);
        drain(&mut run).await;
    }
    run.approve("c2").unwrap();
    run.into_result().await.unwrap();
    let stored = [
        "user: go",
        "function_call c1",
        "function_call c2",
        "function_call_output c1",
        "function_call_output c2",
        "assistant: Done.",
    ];
    assert_eq!(forms(&world.session_items().await), stored);
    world.assert_clean("");
}

/// Runs that write to a new session at the same time; returns the stored forms, sorted.
async fn write_at_once(sessions: Arc<dyn SessionStore>) -> Vec<String> {
    let world = World::new().await;
    let runs = ["one", "two", "three"].map(|text| {
        let state = State::shared_session(Arc::clone(&sessions), "new");
        world.start(state, user(text)).into_result()
    });
    for result in join_all(runs).await {
        result.unwrap();
    }
    world.run(State::shared_session(Arc::clone(&sessions), "new"), "four").await;
    assert_eq!(world.provider.refusals(), []);
    let mut stored = forms(&sessions.load("new").await.unwrap().items);
    stored.retain(|form| form.starts_with("user"));
    stored.sort();
    stored
}

#[tokio::test]
async fn b41_concurrent_first_writes_make_one_session() {
    let expected = ["user: four", "user: one", "user: three", "user: two"];
    let memory = World::new().await.sessions;
    assert_eq!(write_at_once(Arc::new(memory)).await, expected);
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", directory.path().join("sessions.db").display());
    let sessions = StoreSessions::open(&url).await.unwrap();
    assert_eq!(write_at_once(Arc::new(sessions.clone())).await, expected);
    sessions.close().await;
}

/// The reference creates a conversation with the first write, so two writers can create two. The
/// id of a conversation is part of a [`State`], so runs share it; the second waits for the first.
#[tokio::test]
async fn b41_concurrent_runs_share_one_conversation() {
    let world = World::new().await;
    let gate = world.provider.script(antiphon_mock::Script::from(says("One.")).gated());
    world.script([says("Two.")]);
    let mut first = world.start(world.state(Owner::Conversation), "one");
    let mut second = world.start(world.state(Owner::Conversation), "two");
    let is_asked = |event: &antiphon_agents::RunEvent| {
        matches!(event, antiphon_agents::RunEvent::Asked { .. })
    };
    while !is_asked(&first.next().await.unwrap()) {}
    let ending = tokio::spawn(async move { first.into_result().await });
    world.provider.request(2).await;
    let is_retry = |event: &antiphon_agents::RunEvent| {
        matches!(event, antiphon_agents::RunEvent::Retrying { .. })
    };
    while !is_retry(&second.next().await.unwrap()) {}
    gate.release_all();
    assert_eq!(ending.await.unwrap().unwrap().text(), "One.");
    assert_eq!(second.finish().await.unwrap().text(), "Two.");
    let stored = ["user: one", "assistant: One.", "user: two", "assistant: Two."];
    assert_eq!(forms(&world.conversation_items()), stored);
    assert_eq!(world.provider.duplicates(), []);
}
