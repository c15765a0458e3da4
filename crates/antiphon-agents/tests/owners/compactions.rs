//! Compactions with every owner: pinned items, late items, failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon::Item;
use antiphon::item::CallKey;
use antiphon_agents::rules::CancelMode;
use antiphon_agents::session::{
    MemorySessions, SessionContent, SessionError, SessionStore, StoreSessions,
};
use antiphon_agents::{Compaction, RunEvent, RunResult, user};
use antiphon_mock::{OnAbort, Reply};
use async_trait::async_trait;
use http::{Method, StatusCode};
use serde_json::json;

use crate::agents::model;
use crate::scenario::{Owner, answer};
use crate::verdict::assert_clean;
use crate::world::{SESSION, World, finish};

pub(crate) const OWNERS: [Owner; 4] =
    [Owner::Replay, Owner::Session, Owner::Conversation, Owner::Chain];

/// The item that every compaction keeps.
pub(crate) const PINNED: &str = "the order number is 7";

/// Compacts each history that has an answer, and keeps the pinned item.
pub(crate) fn with_answer(compaction: Compaction) -> Compaction {
    let has_answer = |history: &[Item]| history.iter().any(|item| item.text().contains("One."));
    compaction.when(has_answer).pin(|item| item.text().contains(PINNED))
}

fn by_model() -> Compaction {
    with_answer(Compaction::by_model())
}

fn by_provider() -> Compaction {
    with_answer(Compaction::by_provider())
}

/// The texts of the messages of an input.
fn texts(input: &[serde_json::Value]) -> Vec<String> {
    let text = |item: &serde_json::Value| {
        item["content"].as_str().or(item["content"][0]["text"].as_str()).map(str::to_owned)
    };
    input.iter().filter_map(text).collect()
}

async fn sqlite(folder: &std::path::Path) -> Arc<dyn SessionStore> {
    let url = format!("sqlite:{}", folder.join("store.db").display());
    Arc::new(StoreSessions::open(&url).await.unwrap())
}

#[tokio::test]
async fn compacted_history_begins_the_next_request() {
    for owner in OWNERS {
        let folder = tempfile::tempdir().unwrap();
        let world = World::with_sessions(OnAbort::default(), sqlite(folder.path()).await).await;
        let summary = answer().message("They greeted each other.");
        world.script([answer().message("One."), summary, answer().message("Two.")]);
        let result = finish(world.start(owner, world.state(owner), PINNED)).await;
        let run = world.start(owner, result.next_state(), "second").compaction(by_model());
        let result = finish(run).await;

        let given = world.provider.turns().pop().unwrap().model_input.unwrap();
        let summary = "Summary of the conversation so far:\n\nThey greeted each other.";
        assert_eq!(texts(&given), [PINNED, summary, "second"], "{owner:?}");
        let is_server = matches!(owner, Owner::Conversation | Owner::Chain);
        assert_eq!(result.state().forks().len(), usize::from(is_server), "{owner:?}");

        world.script([answer().message("Three.")]);
        finish(world.start(owner, result.next_state(), "third")).await;
        let given = world.provider.turns().pop().unwrap().model_input.unwrap();
        assert_eq!(texts(&given), [PINNED, summary, "second", "Two.", "third"], "{owner:?}");
        assert_clean(&world.provider, &format!("{owner:?}"));
    }
}

#[tokio::test]
async fn due_compaction_waits_for_outputs_of_tools() {
    for owner in [Owner::Replay, Owner::Session] {
        let world = World::new(OnAbort::default()).await;
        let call = answer().call("c1", "look_up", "{}");
        world.script([call, answer().message("Done."), answer().message("All was done.")]);
        // It is due before the outputs are read, and not due afterwards.
        let compaction = Compaction::by_model().when(|history| history.len() == 3);
        let run = world.start(owner, world.state(owner), "go").compaction(compaction);
        let result = finish(run).await;
        let lengths = world.provider.turns().into_iter().map(|it| it.model_input.unwrap().len());
        // The last request has the whole history and the prompt.
        assert_eq!(lengths.collect::<Vec<_>>(), [1, 3, 5], "{owner:?}");
        let left = match owner {
            Owner::Replay => result.next_input(),
            _ => world.sessions.load(SESSION).await.unwrap().items,
        };
        assert_eq!(left.len(), 1, "{owner:?}: {left:#?}");
        assert_clean(&world.provider, &format!("{owner:?}"));
    }
}

#[tokio::test]
async fn tokens_of_the_last_answer_trigger_a_compaction() {
    for (limit, requests) in [(1, 2), (1_000_000, 1)] {
        let world = World::new(OnAbort::default()).await;
        world.script([answer().message("One."), answer().message("They counted.")]);
        let run = world.start(Owner::Session, world.state(Owner::Session), "go");
        finish(run.compaction(Compaction::by_model().at_tokens(limit))).await;
        assert_eq!(world.provider.turns().len(), requests, "{limit} tokens");
    }
}

/// The kinds of the items of an input, or their texts.
fn forms(input: &[serde_json::Value]) -> Vec<String> {
    let form = |item: &serde_json::Value| match item["type"] == "compaction" {
        true => vec!["compaction".to_owned()],
        false => texts(std::slice::from_ref(item)),
    };
    input.iter().flat_map(form).collect()
}

#[tokio::test]
async fn provider_compacts_the_history_of_every_owner() {
    for owner in OWNERS {
        let world = World::new(OnAbort::default()).await;
        world.script(["One.", "Two.", "Three."].map(|text| answer().message(text)));
        let result = finish(world.start(owner, world.state(owner), PINNED)).await;
        let run = world.start(owner, result.next_state(), "second").compaction(by_provider());
        let result = finish(run).await;
        let given = world.provider.turns().pop().unwrap().model_input.unwrap();
        // The provider keeps the messages of the user, and so the pinned one.
        assert_eq!(forms(&given), [PINNED, "compaction", "second"], "{owner:?}");

        finish(world.start(owner, result.next_state(), "third")).await;
        let given = world.provider.turns().pop().unwrap().model_input.unwrap();
        let expected = [PINNED, "compaction", "second", "Two.", "third"];
        assert_eq!(forms(&given), expected, "{owner:?}");
        assert_clean(&world.provider, &format!("{owner:?}"));
    }
}

#[tokio::test]
async fn cancelled_request_for_a_compaction_changes_nothing() {
    for owner in OWNERS {
        let world = World::new(OnAbort::default()).await;
        world.script(["One.", "Two."].map(|text| answer().message(text)));
        let result = finish(world.start(owner, world.state(owner), PINNED)).await;
        // The provider never answers this request.
        let reply = Reply::json(StatusCode::OK, &json!({})).gated().withhold_head();
        world.provider.reply_instead(Method::POST, "/responses/compact", reply);
        let run = world.start(owner, result.next_state(), "second").compaction(by_provider());
        let canceller = run.canceller();
        let running = tokio::spawn(finish(run));
        let is_compaction = |it: &antiphon_mock::Recorded| it.path == "/v1/responses/compact";
        while !world.provider.requests().iter().any(is_compaction) {
            tokio::task::yield_now().await;
        }
        canceller.cancel(CancelMode::Immediate);
        let result = running.await.unwrap();

        finish(world.start(owner, result.next_state(), "third")).await;
        let given = world.provider.turns().pop().unwrap().model_input.unwrap();
        let forms: Vec<_> = forms(&given).into_iter().filter(|form| form != "second").collect();
        assert_eq!(forms, [PINNED, "One.", "third"], "{owner:?}");
        assert_clean(&world.provider, &format!("{owner:?}"));
    }
}

/// A store that fails or waits in the middle of a replacement.
pub(crate) struct Halting {
    inner: MemorySessions,
    failures: AtomicUsize,
}

impl Halting {
    pub(crate) fn new(failures: usize) -> Self {
        Self { inner: MemorySessions::new(), failures: AtomicUsize::new(failures) }
    }
}

#[async_trait]
impl SessionStore for Halting {
    async fn load(&self, key: &str) -> Result<SessionContent, SessionError> {
        self.inner.load(key).await
    }

    async fn append(
        &self,
        key: &str,
        items: &[Item],
        started: &[CallKey],
    ) -> Result<(), SessionError> {
        tokio::task::yield_now().await;
        self.inner.append(key, items, started).await?;
        tokio::task::yield_now().await;
        Ok(())
    }

    async fn replace(&self, key: &str, old: usize, new: &[Item]) -> Result<(), SessionError> {
        tokio::task::yield_now().await;
        let takes_one = |left: usize| left.checked_sub(1);
        let order = Ordering::SeqCst;
        if self.failures.fetch_update(order, order, takes_one).is_ok() {
            return Err(SessionError::Unavailable("the disk is full".into()));
        }
        self.inner.replace(key, old, new).await?;
        tokio::task::yield_now().await;
        Ok(())
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

#[tokio::test]
async fn failing_store_keeps_the_old_history() {
    let world = World::with_sessions(OnAbort::default(), Arc::new(Halting::new(1))).await;
    let owner = Owner::Session;
    world.script(["One.", "A summary.", "Two."].map(|text| answer().message(text)));
    finish(world.start(owner, world.state(owner), PINNED)).await;
    let mut run = world.start(owner, world.state(owner), "second").compaction(by_model());
    let mut failures = 0;
    while let Some(event) = run.next().await {
        failures += usize::from(matches!(event, RunEvent::NotCompacted(_)));
        if failures == 1 && matches!(event, RunEvent::Asked { .. }) {
            break;
        }
    }
    let items = world.sessions.load(SESSION).await.unwrap().items;
    assert_eq!((failures, items.len()), (1, 3), "{items:#?}");
    run.into_result().await.unwrap();
    let given = &world.provider.turns()[2].model_input.clone().unwrap();
    assert_eq!(texts(given), [PINNED, "One.", "second"]);
    assert_clean(&world.provider, "failing store");
}

#[tokio::test]
async fn items_that_arrive_during_a_compaction_stay() {
    for owner in [Owner::Session, Owner::Conversation] {
        let world = World::new(OnAbort::default()).await;
        world.script([answer().message("One.")]);
        finish(world.start(owner, world.state(owner), PINNED)).await;
        let stopped = antiphon_mock::Script::from(answer().message("A summary.")).gated();
        let summary = world.provider.script(stopped);
        world.script([answer().message("Two.")]);
        let run = world.start(owner, world.state(owner), "second").compaction(by_model());
        let running = tokio::spawn(finish(run));
        while world.provider.turns().len() < 2 {
            tokio::task::yield_now().await;
        }
        let model = model(&world.provider.base_url());
        if owner == Owner::Session {
            world.sessions.append(SESSION, &[user("late")], &[]).await.unwrap();
        } else {
            let id = world.conversation.clone().into();
            model.backend().deliver(&id, vec![user("late")]).await.unwrap();
        }
        summary.release_all();
        let result: RunResult = running.await.unwrap();
        let has_late = match result.continuation() {
            Some(conversation) => model.backend().items(conversation).await.unwrap(),
            None => world.sessions.load(SESSION).await.unwrap().items,
        };
        let count = has_late.iter().filter(|item| item.text().contains("late")).count();
        assert_eq!(count, 1, "{owner:?}: {has_late:#?}");
        assert_clean(&world.provider, &format!("{owner:?}"));
    }
}
