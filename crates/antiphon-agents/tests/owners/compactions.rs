//! Compactions with every owner: pinned items, late items, failures, and drops and cancellations at
//! every await.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use antiphon::Item;
use antiphon::item::CallKey;
use antiphon_agents::machine::End;
use antiphon_agents::rules::CancelMode;
use antiphon_agents::session::{
    MemorySessions, SessionContent, SessionError, SessionStore, StoreSessions,
};
use antiphon_agents::{Agent, Compaction, Model, Run, RunEvent, RunResult, State, user};
use antiphon_mock::OnAbort;
use async_trait::async_trait;
use futures_util::StreamExt;

use crate::agents::{Effects, model};
use crate::memory_server::{Lists, MemoryServer};
use crate::scenario::{Owner, answer};
use crate::verdict::assert_clean;
use crate::world::{SESSION, World, finish};

const OWNERS: [Owner; 4] = [Owner::Replay, Owner::Session, Owner::Conversation, Owner::Chain];

/// The item that every compaction keeps.
const PINNED: &str = "the order number is 7";

/// A compaction of each history that has an answer.
fn compaction() -> Compaction {
    let has_answer = |history: &[Item]| history.iter().any(|item| item.text().contains("One."));
    Compaction::by_model().when(has_answer).pin(|item| item.text().contains(PINNED))
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
        let run = world.start(owner, result.next_state(), "second").compaction(compaction());
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

/// A store that fails or waits in the middle of a replacement.
struct Halting {
    inner: MemorySessions,
    failures: AtomicUsize,
}

impl Halting {
    fn new(failures: usize) -> Self {
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
    let mut run = world.start(owner, world.state(owner), "second").compaction(compaction());
    let mut failures = 0;
    while let Some(event) = run.next().await {
        failures += usize::from(matches!(event, RunEvent::NotCompacted(_)));
        if failures == 1 && matches!(event, RunEvent::Asked { .. }) {
            break;
        }
    }
    let items = world.sessions.load(SESSION).await.unwrap().items;
    assert_eq!((failures, items.len()), (1, 3), "{items:#?}");
    run.finish().await.unwrap();
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
        let run = world.start(owner, world.state(owner), "second").compaction(compaction());
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

/// An application in memory that runs the same dialogue again and again.
struct Small {
    server: MemoryServer,
    sessions: Arc<dyn SessionStore>,
}

impl Small {
    fn new() -> Self {
        let texts = ["One.", "A summary.", "Two.", "Three.", "Four."].into_iter().enumerate();
        let answers = texts.map(|(at, text)| answer().message(text).seed(at.to_string()));
        let conversations = Lists::from([("conv_0".to_owned(), Vec::new())]);
        let server = MemoryServer::new(conversations, Lists::new(), answers);
        Self { server, sessions: Arc::new(Halting::new(0)) }
    }

    fn run(&self, state: State, input: &str) -> Run<Effects> {
        let agent = Agent::new("a").model(Model::new("m", self.server.clone()));
        Run::start_with(&agent, state, input, Effects::default()).unwrap()
    }

    fn first_state(&self, owner: Owner) -> State {
        crate::world::state(owner, &self.sessions, "conv_0")
    }
}

/// Polls a run so often. Returns whether it has ended.
async fn poll(run: &mut Run<Effects>, polls: usize) -> bool {
    let mut left = polls;
    std::future::poll_fn(|context| {
        let Some(less) = left.checked_sub(1) else { return Poll::Ready(false) };
        left = less;
        if let Poll::Ready(None) = run.poll_next_unpin(context) {
            return Poll::Ready(true);
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

/// Interrupts a run with a compaction after each number of polls, and checks that the next run has
/// the old or the compacted history.
async fn interrupt_compactions(owner: Owner, cancels: bool) {
    for polls in 1.. {
        let case = format!("{owner:?}, cancelled: {cancels}, after {polls} polls");
        let small = Small::new();
        let first = small.run(small.first_state(owner), PINNED).finish().await.unwrap();
        let state = first.next_state();
        let mut run = small.run(state.clone(), "second").compaction(compaction());
        let is_over = poll(&mut run, polls).await;
        let state = if cancels {
            run.cancel(CancelMode::Immediate);
            run.finish().await.unwrap().next_state()
        } else {
            drop(run);
            state
        };
        let result = small.run(state, "third").finish().await.unwrap();
        assert!(matches!(result.end(), End::Answered { .. }), "{case}: {:?}", result.end());
        let input = small.server.content().inputs.last().unwrap().clone();
        let count = |text: &str| input.iter().filter(|item| item.text().contains(text)).count();
        assert_eq!((count(PINNED), count("third")), (1, 1), "{case}: {input:#?}");
        assert_eq!(count("One.") + count("Summary of"), 1, "{case}: {input:#?}");
        assert!(count("second") <= 1, "{case}: {input:#?}");
        if is_over {
            assert!(polls > 5, "{case}");
            return;
        }
    }
}

#[tokio::test]
async fn dropped_compaction_leaves_one_history() {
    for owner in OWNERS {
        interrupt_compactions(owner, false).await;
    }
}

#[tokio::test]
async fn cancelled_compaction_leaves_one_history() {
    for owner in OWNERS {
        interrupt_compactions(owner, true).await;
    }
}
