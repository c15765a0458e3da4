//! The reports of repairs, with every owner: no call gets an output in silence.

use antiphon::CallId;
use antiphon::repair::ReportedRepair;
use antiphon_agents::rules::CancelMode;
use antiphon_agents::{Run, RunEvent, RunResult};
use antiphon_mock::OnAbort;

use crate::agents::Effects;
use crate::scenario::{OWNERS, answer};
use crate::verdict::assert_clean;
use crate::world::{World, approve_all};

/// Continues a run to its end. Returns the repairs that its events report.
async fn finish_with_repairs(mut run: Run<Effects>) -> (Vec<ReportedRepair>, RunResult) {
    let mut repairs = Vec::new();
    loop {
        while let Some(event) = run.next().await {
            if let RunEvent::Repaired(reported) = event {
                repairs.extend(reported);
            }
        }
        if !approve_all(&mut run) {
            return (repairs, run.into_result().await.unwrap());
        }
    }
}

/// Checks that one call got an output in place of its tool's.
fn assert_one(repairs: &[ReportedRepair], call_id: &str, reason: &str, case: &str) {
    let [repair] = repairs else { panic!("{case}: {repairs:?}") };
    assert_eq!((repair.fault, repair.action), ("unanswered_call", "answered"), "{case}");
    assert_eq!(repair.call_id.as_ref().map(CallId::as_str), Some(call_id), "{case}");
    assert!(repair.message.contains(reason), "{case}: {}", repair.message);
}

#[tokio::test]
async fn call_with_an_unknown_outcome_is_reported() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new(OnAbort::default()).await;
        world.script([answer().call("c1", "look_up", "{}"), answer().message("I see.")]);
        let mut run = world.start(owner, world.state(owner), "go");
        while !matches!(run.next().await.unwrap(), RunEvent::ToolStarted(_)) {}
        drop(run);
        let resumed = world.resume().await;
        let run = resumed.unwrap_or_else(|| world.start(owner, world.state(owner), "and?"));
        let (repairs, result) = finish_with_repairs(run).await;
        assert_one(&repairs, "c1", "Its outcome is unknown.", &case);
        assert_eq!(result.repairs(), repairs, "{case}");
        assert_clean(&world.provider, &case);
    }
}

#[tokio::test]
async fn call_that_a_cancellation_leaves_is_reported() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new(OnAbort::default()).await;
        world.script([answer().call("c1", "pay", "{}")]);
        let mut run = world.start(owner, world.state(owner), "go");
        while run.next().await.is_some() {}
        run.cancel(CancelMode::Immediate);
        let (repairs, result) = finish_with_repairs(run).await;
        assert_one(&repairs, "c1", "before this call was executed", &case);
        assert_eq!(result.repairs(), repairs, "{case}");
        assert_clean(&world.provider, &case);
    }
}
