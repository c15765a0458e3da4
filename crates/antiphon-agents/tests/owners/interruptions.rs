//! Every owner with every scenario: runs that are interrupted after each event, and continued.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_agents::machine::End;
use antiphon_agents::rules::CancelMode;
use antiphon_agents::session::{MemorySessions, SessionStore, StoreSessions};
use antiphon_agents::{Run, RunEvent, RunResult};
use antiphon_testkit::postgres::Server;

use crate::agents::Effects;
use crate::extent::Extent;
use crate::scenario::{Owner, SCENARIOS, Scenario};
use crate::verdict::{assert_clean, assert_effects, assert_ran_once, last_input_count};
use crate::world::{World, approve_all, finish};

/// The interruption of a run, and its continuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interruption {
    /// It is dropped, and resumed from its journal.
    Resumed,
    /// It is dropped, and another run of the same conversation follows.
    Followed,
    /// It is cancelled, and another run follows its result.
    Cancelled(CancelMode),
}

use Interruption::{Cancelled, Followed, Resumed};

/// The runs of one owner, which are interrupted in one way.
struct Setup<S> {
    owner: Owner,
    interruption: Interruption,
    /// Makes an empty store.
    sessions: S,
}

/// The sessions of a case.
type Sessions = Arc<dyn SessionStore>;

impl<S: Fn() -> Sessions> Setup<S> {
    /// Interrupts runs of all scenarios, and checks that each ends, that nothing is refused or
    /// doubled, and that no tool runs twice.
    async fn interrupt(&self, scenarios: &[Scenario], extent: Extent) {
        for (number, scenario) in scenarios.iter().enumerate() {
            self.interrupt_everywhere(*scenario, number, extent).await;
        }
    }

    async fn interrupt_everywhere(&self, scenario: Scenario, number: usize, extent: Extent) {
        for events in 1.. {
            // A cancellation takes the path of a drop, and more: a sample of the events is enough.
            let is_left_out = extent == Extent::Sample && self.is_cancelled();
            if is_left_out && !(events + number).is_multiple_of(3) {
                continue;
            }
            for on_abort in extent.outcomes(events / 3 + events + number) {
                let owner = self.owner;
                let case = format!(
                    "{owner:?}, {scenario:?}, {on_abort:?}, {:?} after {events} events",
                    self.interruption
                );
                let world = World::with_sessions(on_abort, (self.sessions)()).await;
                world.script(scenario.answers(owner));
                let run = world.start(owner, world.state(owner), "go");
                let Some(run) = after(run, events).await else {
                    assert!(events > 5, "{case}");
                    return;
                };
                let result = self.continue_run(&world, run).await;
                assert!(matches!(result.end(), End::Answered { .. }), "{case}: {:?}", result.end());
                self.judge(&world, &case);
            }
        }
    }

    fn is_cancelled(&self) -> bool {
        matches!(self.interruption, Cancelled(_))
    }

    async fn continue_run(&self, world: &World, mut run: Run<Effects>) -> RunResult {
        let state = match self.interruption {
            Cancelled(mode) => {
                run.cancel(mode);
                // The server has noticed the end of its connection.
                if mode == CancelMode::Immediate {
                    world.provider.wait_until_idle().await;
                }
                finish(run).await.next_state()
            }
            Resumed | Followed => {
                drop(run);
                world.provider.wait_until_idle().await;
                world.state(self.owner)
            }
        };
        let resumed = if self.interruption == Resumed { world.resume().await } else { None };
        finish(resumed.unwrap_or_else(|| world.start(self.owner, state, "still there?"))).await
    }

    fn judge(&self, world: &World, case: &str) {
        // Without the state of the run, only a session certainly has its input.
        let has_input = self.interruption != Followed || self.owner.has_session();
        let expected = if has_input { 1..=1 } else { 0..=1 };
        assert!(expected.contains(&last_input_count(&world.provider, "go")), "{case}");
        assert_clean(&world.provider, case);
        assert_ran_once(&world.effects.lines(), case);
        // Otherwise an output may be lost, and its call has an unknown outcome.
        if has_input {
            assert_effects(&world.provider, &world.effects.lines(), case);
        }
    }
}

/// The run after so many events; `None` if it had ended.
async fn after(mut run: Run<Effects>, events: usize) -> Option<Run<Effects>> {
    for _ in 0..events {
        match run.next().await {
            None if !approve_all(&mut run) => return None,
            Some(RunEvent::Ended(_)) => return None,
            None | Some(_) => {}
        }
    }
    Some(run)
}

/// Without a compaction, the scenario of that name has no more than `Tools`.
fn scenarios() -> Vec<Scenario> {
    SCENARIOS.into_iter().filter(|scenario| *scenario != Scenario::Compaction).collect()
}

async fn interrupt_all(owner: Owner, interruption: Interruption, extent: Extent) {
    let sessions = || -> Sessions { Arc::new(MemorySessions::new()) };
    Setup { owner, interruption, sessions }.interrupt(&scenarios(), extent).await;
}

/// The tests of each owner, which run in parallel: a sample of the outcomes of an abort, and all of
/// them.
macro_rules! interruptions {
    ($($test:ident: $owner:ident, $interruption:expr;)*) => {
        $(
            #[tokio::test]
            async fn $test() {
                interrupt_all(Owner::$owner, $interruption, Extent::Sample).await;
            }
        )*

        /// With every outcome of an abort: `cargo test -p antiphon-agents --test owners --
        /// --ignored all_outcomes`.
        mod all_outcomes {
            use super::*;

            $(
                #[tokio::test]
                #[ignore = "tries about 600 runs"]
                async fn $test() {
                    interrupt_all(Owner::$owner, $interruption, Extent::All).await;
                }
            )*
        }
    };
}

interruptions! {
    resumed_replay_loses_nothing: Replay, Resumed;
    resumed_session_loses_nothing: JournaledSession, Resumed;
    resumed_conversation_loses_nothing: Conversation, Resumed;
    resumed_chain_loses_nothing: Chain, Resumed;
    new_run_continues_interrupted_replay: Replay, Followed;
    new_run_continues_interrupted_session: Session, Followed;
    new_run_continues_interrupted_conversation: Conversation, Followed;
    new_run_continues_interrupted_chain: Chain, Followed;
    new_run_continues_cancelled_replay: Replay, Cancelled(CancelMode::Immediate);
    new_run_continues_cancelled_session: Session, Cancelled(CancelMode::Immediate);
    new_run_continues_cancelled_conversation: Conversation, Cancelled(CancelMode::Immediate);
    new_run_continues_cancelled_chain: Chain, Cancelled(CancelMode::Immediate);
    new_run_continues_stopped_replay: Replay, Cancelled(CancelMode::AfterTurn);
    new_run_continues_stopped_session: Session, Cancelled(CancelMode::AfterTurn);
    new_run_continues_stopped_conversation: Conversation, Cancelled(CancelMode::AfterTurn);
    new_run_continues_stopped_chain: Chain, Cancelled(CancelMode::AfterTurn);
}

/// Interrupts runs whose sessions and journals are in PostgreSQL.
async fn interrupt_in_postgresql(owner: Owner, interruption: Interruption) {
    let url = Server::shared().await.create_database().await;
    let opened = StoreSessions::open(&format!("{url}?pool_max=4")).await.unwrap();
    let cases = AtomicUsize::new(0);
    let sessions = || -> Sessions {
        let case = cases.fetch_add(1, Ordering::Relaxed);
        Arc::new(opened.clone().tenant(&case.to_string()))
    };
    let setup = Setup { owner, interruption, sessions };
    setup.interrupt(&[Scenario::ParallelTools, Scenario::Approval], Extent::Sample).await;
    opened.close().await;
}

#[tokio::test]
async fn new_run_continues_interrupted_session_in_postgresql() {
    interrupt_in_postgresql(Owner::Session, Followed).await;
}

#[tokio::test]
async fn resumed_session_in_postgresql_loses_nothing() {
    interrupt_in_postgresql(Owner::JournaledSession, Resumed).await;
}
