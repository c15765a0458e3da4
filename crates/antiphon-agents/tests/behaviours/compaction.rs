//! The compaction of a history that the client owns.

use std::sync::Arc;
use std::time::Duration;

use antiphon::Item;
use antiphon::item::CallKey;
use antiphon_agents::roster::Limits;
use antiphon_agents::rules::CancelMode;
use antiphon_agents::session::{MemorySessions, SessionContent, SessionError, SessionStore};
use antiphon_agents::{Compaction, RunError, RunEvent, State};
use antiphon_mock::{Reply, Script, encrypted_content};
use async_trait::async_trait;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::world::{MODEL, Owner, SESSION, World, calls, drain, forms, limits, says};

/// Answers the next request for a compaction with an item with this id.
fn compact_to(world: &World, id: &str) {
    let sealed = encrypted_content(MODEL, id);
    let item = json!({"type": "compaction", "id": id, "encrypted_content": sealed});
    let body = json!({"object": "response.compaction", "output": [item]});
    let reply = Reply::json(StatusCode::OK, &body);
    world.provider.reply_instead(Method::POST, "/responses/compact", reply);
}

/// The reference compacts a response that the server stores if there is one, which leaves a stale
/// chain. A run compacts the items that the client owns, and no others.
#[tokio::test]
async fn b42_compaction_has_the_items_as_its_input() {
    let world = World::new().await;
    world.script([says("One."), says("Two.")]);
    // The second run compacts before its request and after its answer.
    compact_to(&world, "cmp_1");
    compact_to(&world, "cmp_2");
    for (text, at_items) in [("one", 9), ("two", 1)] {
        let run = world.start(world.state(Owner::Session), text);
        run.compaction(Compaction::by_provider().at_items(at_items)).into_result().await.unwrap();
    }
    let requests = world.provider.requests();
    let compaction = requests.iter().find(|it| it.path == "/v1/responses/compact").unwrap();
    assert_eq!(compaction.body["previous_response_id"], Value::Null);
    assert_eq!(compaction.body["conversation"], Value::Null);
    let input = super::world::summary(compaction.input());
    assert_eq!(input, ["user: one", "assistant: One."]);
    assert_eq!(world.inputs()[1], ["compaction", "user: two"]);
    world.assert_clean("");
}

/// A store whose next replacement fails or never ends.
struct Faulty {
    inner: MemorySessions,
    never_ends: bool,
    /// Notified when a replacement begins.
    begun: Notify,
}

#[async_trait]
impl SessionStore for Faulty {
    async fn load(&self, key: &str) -> Result<SessionContent, SessionError> {
        self.inner.load(key).await
    }

    async fn append(
        &self,
        key: &str,
        items: &[Item],
        started: &[CallKey],
    ) -> Result<(), SessionError> {
        self.inner.append(key, items, started).await
    }

    async fn replace(&self, _: &str, _: usize, _: &[Item]) -> Result<(), SessionError> {
        self.begun.notify_one();
        if self.never_ends {
            std::future::pending::<()>().await;
        }
        Err(SessionError::Unavailable("the disk is full".into()))
    }

    async fn pop(&self, key: &str, tail: &[Item]) -> Result<bool, SessionError> {
        self.inner.pop(key, tail).await
    }

    async fn clear(&self, key: &str) -> Result<(), SessionError> {
        self.inner.clear(key).await
    }

    async fn save_run(&self, key: &str, state: Option<&str>) -> Result<(), SessionError> {
        self.inner.save_run(key, state).await
    }

    async fn run(&self, key: &str) -> Result<Option<String>, SessionError> {
        self.inner.run(key).await
    }
}

fn faulty(world: &World, never_ends: bool) -> Arc<Faulty> {
    let inner = world.sessions.clone();
    Arc::new(Faulty { inner, never_ends, begun: Notify::new() })
}

#[tokio::test]
async fn b43_failed_compaction_leaves_the_history() {
    let world = World::new().await;
    world.script([says("One.")]);
    world.run(world.state(Owner::Session), "one").await;
    let store = faulty(&world, false);
    world.script([says("A summary."), says("Two."), says("A summary.")]);
    let state = State::shared_session(Arc::clone(&store) as Arc<dyn SessionStore>, SESSION);
    let run = world.start(state, "two");
    let mut run = run.compaction(Compaction::by_model().at_items(1));
    let events = drain(&mut run).await;
    assert!(events.iter().any(|event| matches!(event, RunEvent::NotCompacted(_))));
    assert_eq!(run.finish().await.unwrap().text(), "Two.");
    let stored = ["user: one", "assistant: One.", "user: two", "assistant: Two."];
    assert_eq!(forms(&world.session_items().await), stored);
    world.assert_clean("");
}

/// A cancellation waits until the store has replaced the history or failed. Here it does neither,
/// so its time limit ends the wait.
#[tokio::test]
async fn b43_interrupted_compaction_leaves_the_history() {
    let world = World::new().await;
    world.script([says("One.")]);
    world.run(world.state(Owner::Session), "one").await;
    let before = world.session_items().await;
    let store = faulty(&world, true);
    world.script([says("A summary."), says("Three.")]);
    let state = State::shared_session(Arc::clone(&store) as Arc<dyn SessionStore>, SESSION);
    let run = world.start(state, "two").compaction(Compaction::by_model().at_items(1));
    let run = run.limits(Limits { store_timeout: Duration::from_millis(1), ..limits() });
    let canceller = run.canceller();
    let running = tokio::spawn(run.into_result());
    store.begun.notified().await;
    canceller.cancel(CancelMode::Immediate);
    canceller.cancel(CancelMode::Immediate);
    let error = running.await.unwrap().unwrap_err();
    assert!(matches!(error, RunError::Session(SessionError::TimedOut(_))), "{error}");
    let stored = world.session_items().await;
    assert_eq!(stored[..2], before);
    assert_eq!(forms(&stored)[2..], ["user: two"]);

    world.run(world.state(Owner::Session), "three").await;
    let expected = ["user: one", "assistant: One.", "user: two", "user: three"];
    assert_eq!(world.last_model_input(), expected);
    world.assert_clean("");
}

#[tokio::test]
async fn b44_compaction_waits_until_the_model_has_read_the_outputs() {
    let world = World::new().await;
    world.script([
        Script::from(calls("c1", "look_up", "Bonn")),
        calls("c2", "look_up", "Rome").into(),
        says("Done.").into(),
        says("A summary.").into(),
    ]);
    let run = world.start(world.state(Owner::Session), "go");
    let mut run = run.compaction(Compaction::by_model().at_items(2));
    let events = drain(&mut run).await;
    let sizes: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::Compacted { old, new, .. } => Some((*old, *new)),
            _ => None,
        })
        .collect();
    assert_eq!(sizes, [(6, 1)], "once, after the last answer");
    let stored = forms(&world.session_items().await);
    assert_eq!(stored.len(), 1);
    assert!(stored[0].contains("A summary."), "{stored:?}");
    world.assert_clean("");
}
