//! Compactions that are dropped or cancelled at every await, with every owner.

use std::sync::Arc;
use std::task::Poll;

use antiphon::Item;
use antiphon::item::Kind;
use antiphon_agents::machine::End;
use antiphon_agents::rules::CancelMode;
use antiphon_agents::session::SessionStore;
use antiphon_agents::{Agent, Compaction, Model, Run, State};
use futures_util::StreamExt;

use crate::agents::Effects;
use crate::compactions::{Halting, OWNERS, PINNED, with_answer};
use crate::memory_server::{Lists, MemoryServer};
use crate::scenario::{Owner, answer};

/// The way to compact.
#[derive(Clone, Copy, Debug)]
enum Way {
    Model,
    Provider,
}

impl Way {
    fn compaction(self) -> Compaction {
        with_answer(match self {
            Self::Model => Compaction::by_model(),
            Self::Provider => Compaction::by_provider(),
        })
    }
}

/// Whether a compaction made the item.
fn is_summary(item: &Item) -> bool {
    item.text().contains("Summary of") || item.head().kind == Kind::Compaction
}

/// An application in memory that runs the same dialogue again and again.
struct Small {
    server: MemoryServer,
    sessions: Arc<dyn SessionStore>,
}

impl Small {
    fn new(way: Way) -> Self {
        let summary = match way {
            Way::Model => Some("A summary."),
            Way::Provider => None,
        };
        let texts = ["One."].into_iter().chain(summary).chain(["Two.", "Three.", "Four."]);
        let answers =
            texts.enumerate().map(|(at, text)| answer().message(text).seed(at.to_string()));
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
async fn interrupt_compactions(owner: Owner, way: Way, cancels: bool) {
    for polls in 1.. {
        let case = format!("{owner:?}, by {way:?}, cancelled: {cancels}, after {polls} polls");
        let small = Small::new(way);
        let first = small.run(small.first_state(owner), PINNED).into_result().await.unwrap();
        let state = first.next_state();
        let mut run = small.run(state.clone(), "second").compaction(way.compaction());
        let is_over = poll(&mut run, polls).await;
        let state = if cancels {
            run.cancel(CancelMode::Immediate);
            run.into_result().await.unwrap().next_state()
        } else {
            drop(run);
            state
        };
        let result = small.run(state, "third").into_result().await.unwrap();
        assert!(matches!(result.end(), End::Answered { .. }), "{case}: {:?}", result.end());
        let input = small.server.content().inputs.last().unwrap().clone();
        let count = |text: &str| input.iter().filter(|item| item.text().contains(text)).count();
        assert_eq!((count(PINNED), count("third")), (1, 1), "{case}: {input:#?}");
        let summaries = input.iter().filter(|item| is_summary(item)).count();
        assert_eq!(count("One.") + summaries, 1, "{case}: {input:#?}");
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
        interrupt_compactions(owner, Way::Model, false).await;
        interrupt_compactions(owner, Way::Provider, false).await;
    }
}

#[tokio::test]
async fn cancelled_compaction_leaves_one_history() {
    for owner in OWNERS {
        interrupt_compactions(owner, Way::Model, true).await;
        interrupt_compactions(owner, Way::Provider, true).await;
    }
}
