//! Every owner with every scenario: runs that follow each other, and runs that are interrupted
//! after each event.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_agents::machine::End;
use antiphon_agents::session::{MemorySessions, SessionStore, StoreSessions};
use antiphon_agents::{Run, RunEvent};
use antiphon_mock::OnAbort;
use antiphon_testkit::postgres::Server;

use crate::agents::Effects;
use crate::scenario::{OWNERS, Owner, SCENARIOS, Scenario, answer};
use crate::verdict::{assert_clean, assert_effects, assert_ran_once, last_input_count};
use crate::world::{SESSION, World, approve_all, finish};

/// The number of effects of each tool.
fn runs(world: &World) -> (usize, usize) {
    (world.effects.count("look_up"), world.effects.count("pay"))
}

#[tokio::test]
async fn runs_follow_each_other() {
    for owner in OWNERS {
        let world = World::new(OnAbort::default()).await;
        world.script([answer().message("One."), answer().message("Two.")]);
        let result = finish(world.start(owner, world.state(owner), "first")).await;
        let result = finish(world.start(owner, result.next_state(), "second")).await;
        assert_eq!(result.text(), "Two.", "{owner:?}");
        assert_clean(&world.provider, &format!("{owner:?}"));
    }
}

#[tokio::test]
async fn parallel_calls_and_approvals_run_once() {
    for owner in OWNERS.into_iter().filter(|owner| owner.has_journal()) {
        let world = World::new(OnAbort::default()).await;
        let calls = answer().call("c1", "look_up", "{}").call("c2", "pay", "{}");
        world.script([calls.call("c3", "look_up", "{}"), answer().message("Done.")]);
        let mut run = world.start(owner, world.state(owner), "go");
        while run.next().await.is_some() {}
        assert_eq!(run.waiting().len(), 1, "{owner:?}");
        drop(run);
        let result = finish(world.resume().await.unwrap()).await;
        assert_eq!((result.text().as_str(), runs(&world)), ("Done.", (2, 1)), "{owner:?}");
        assert_clean(&world.provider, &format!("{owner:?}"));
    }
}

#[tokio::test]
async fn handoffs_work_with_every_owner() {
    for owner in OWNERS {
        for handoff in ["transfer_to_expert", "ask_expert"] {
            let case = format!("{owner:?} {handoff}");
            let world = World::new(OnAbort::default()).await;
            let calls = answer().call("c1", handoff, "{}").call("c2", "look_up", "{}");
            let more = answer().call("c3", "look_up", "{}");
            world.script([calls, more, answer().message("Done."), answer().message("More.")]);
            let result = finish(world.start(owner, world.state(owner), "go")).await;
            assert_eq!(result.end(), &End::Answered { agent: "expert".into() }, "{case}");
            let result = finish(world.start(owner, result.next_state(), "and?")).await;
            assert_eq!((result.text().as_str(), runs(&world)), ("More.", (2, 0)), "{case}");
            assert_clean(&world.provider, &case);
            // The conversation that the run left can still be continued.
            let result = finish(world.start(owner, world.state(owner), "again")).await;
            assert!(matches!(result.end(), End::Answered { .. }), "{case}: {:?}", result.end());
            assert_clean(&world.provider, &case);
        }
    }
}

/// Drops a run after so many events. Returns whether it had not ended.
async fn drop_after(mut run: Run<Effects>, events: usize) -> bool {
    for _ in 0..events {
        match run.next().await {
            None if !approve_all(&mut run) => return false,
            Some(RunEvent::Ended(_)) => return false,
            None | Some(_) => {}
        }
    }
    true
}

/// The sessions of a case.
type Sessions = Arc<dyn SessionStore>;

/// Interrupts runs after every number of events, continues them, and checks that each ends, that
/// nothing is refused or doubled, and that no tool runs twice.
///
/// With `resumes`, they continue from the journal, and otherwise as another run. `sessions` makes
/// an empty store with this number.
async fn interrupt_everywhere(
    (owner, scenario): (Owner, Scenario),
    on_abort: OnAbort,
    resumes: bool,
    sessions: impl AsyncFn(usize) -> Sessions,
) {
    for events in 1.. {
        let case =
            format!("{owner:?}, {scenario:?}, {on_abort:?}, resumed: {resumes}, after {events}");
        let world = World::with_sessions(on_abort, sessions(events).await).await;
        world.script(scenario.answers());
        if !drop_after(world.start(owner, world.state(owner), "go"), events).await {
            assert!(events > 5, "{case}");
            return;
        }
        world.provider.wait_until_idle().await;
        let resumed = if resumes { world.resume().await } else { None };
        let run = resumed.unwrap_or_else(|| world.start(owner, world.state(owner), "still there?"));
        let result = finish(run).await;
        assert!(matches!(result.end(), End::Answered { .. }), "{case}: {:?}", result.end());
        // Without the state of the run, only a session certainly has its input.
        let has_input = resumes || owner.has_session();
        let expected = if has_input { 1..=1 } else { 0..=1 };
        assert!(expected.contains(&last_input_count(&world.provider, "go")), "{case}");
        assert_clean(&world.provider, &case);
        assert_ran_once(&world.effects.lines(), &case);
        // Otherwise an output may be lost, and its call has an unknown outcome.
        if has_input {
            assert_effects(&world.provider, &world.effects.lines(), &case);
        }
    }
}

async fn in_memory(_: usize) -> Sessions {
    Arc::new(MemorySessions::new())
}

/// Every scenario with the default outcome of an abort, and the one with the most effects with the
/// others.
fn cases() -> impl Iterator<Item = (Scenario, OnAbort)> {
    let others = [OnAbort::StoreWhole, OnAbort::StoreNothing];
    // Nothing is compacted here, and without that the scenario has no more than `Tools`.
    let all = SCENARIOS.into_iter().filter(|scenario| *scenario != Scenario::Compaction);
    let all = all.map(|scenario| (scenario, OnAbort::default()));
    all.chain(others.map(|on_abort| (Scenario::Approval, on_abort)))
}

async fn interrupt_all(owner: Owner, resumes: bool) {
    for (scenario, on_abort) in cases() {
        interrupt_everywhere((owner, scenario), on_abort, resumes, in_memory).await;
    }
}

/// The tests of each owner, which run in parallel.
macro_rules! interruptions {
    ($($test:ident: $owner:ident, $resumes:literal;)*) => {$(
        #[tokio::test]
        async fn $test() {
            interrupt_all(Owner::$owner, $resumes).await;
        }
    )*};
}

interruptions! {
    resumed_replay_loses_nothing: Replay, true;
    resumed_session_loses_nothing: JournaledSession, true;
    resumed_conversation_loses_nothing: Conversation, true;
    resumed_chain_loses_nothing: Chain, true;
    new_run_continues_interrupted_replay: Replay, false;
    new_run_continues_interrupted_session: Session, false;
    new_run_continues_interrupted_conversation: Conversation, false;
    new_run_continues_interrupted_chain: Chain, false;
}

/// Interrupts runs whose sessions and journals are in PostgreSQL.
async fn interrupt_in_postgresql(owner: Owner) {
    let url = Server::shared().await.create_database().await;
    let opened = StoreSessions::open(&format!("{url}?pool_max=4")).await.unwrap();
    let cases = AtomicUsize::new(0);
    let sessions = async |_| -> Sessions {
        let case = cases.fetch_add(1, Ordering::Relaxed);
        let sessions: Sessions = Arc::new(opened.clone().tenant(&case.to_string()));
        sessions
    };
    for scenario in [Scenario::ParallelTools, Scenario::Approval] {
        let case = (owner, scenario);
        interrupt_everywhere(case, OnAbort::default(), owner.has_journal(), &sessions).await;
    }
    opened.close().await;
}

#[tokio::test]
async fn new_run_continues_interrupted_session_in_postgresql() {
    interrupt_in_postgresql(Owner::Session).await;
}

#[tokio::test]
async fn resumed_session_in_postgresql_loses_nothing() {
    interrupt_in_postgresql(Owner::JournaledSession).await;
}

#[tokio::test]
async fn last_items_are_given_and_all_are_stored() {
    for owner in [Owner::Replay, Owner::Session] {
        let world = World::new(OnAbort::default()).await;
        let call = answer().reasoning("Think.").call("c1", "look_up", "{}");
        world.script([call, answer().message("One."), answer().message("Two.")]);
        let result = finish(world.start(owner, world.state(owner), "first")).await;
        // The cut is between the call and its output.
        let state = result.next_state().last(2);
        let result = finish(world.start(owner, state, "second")).await;
        let given = world.provider.turns().pop().unwrap().model_input.unwrap();
        let texts: Vec<_> = given.iter().map(|item| &item["content"][0]["text"]).collect();
        assert_eq!(texts, ["One.", "second"], "{owner:?}");
        assert_clean(&world.provider, &format!("{owner:?}"));
        let stored = match owner {
            Owner::Replay => result.next_input(),
            _ => world.sessions.load(SESSION).await.unwrap().items,
        };
        assert_eq!(stored.len(), 7, "{owner:?}");
    }
}
