//! Writes the states of runs that were stopped: by a cancellation, by a guardrail, or by the death
//! of their process while a tool ran.

use std::sync::Arc;

use antiphon_agents::Run;
use antiphon_agents::machine::{End, tool_name};
use antiphon_agents::rules::CancelMode;
use antiphon_agents::session::SessionStore;
use antiphon_agents::{RunEvent, State};

use crate::states::{
    Camera, Moment, OWNERS, Ran, VERSION, agent, finish, fixtures, guarded_agent, state, write,
};

/// A new world, its store, and the state of its owner.
fn world(owner: &str) -> (Arc<Camera>, Arc<dyn SessionStore>, State) {
    let camera = Camera::new();
    let sessions: Arc<dyn SessionStore> = Arc::clone(&camera) as _;
    let state = state(owner, &sessions);
    (camera, sessions, state)
}

/// Continues a run until it starts this tool.
async fn run_to_start(run: &mut Run<Ran>, tool: &str) {
    while let Some(event) = run.next().await {
        if matches!(event, RunEvent::ToolStarted(call) if tool_name(&call) == tool) {
            return;
        }
    }
    panic!("the run does not start {tool}");
}

/// The moments of a camera after the run was stopped, with its end.
fn stopped(camera: &Camera, end: &End) -> Vec<Moment> {
    let is_stopped = |moment: &Moment| {
        let state: serde_json::Value = serde_json::from_str(moment.state.get()).unwrap();
        !state["stopping"].is_null() || !state["end"].is_null()
    };
    let mut moments = std::mem::take(&mut *camera.moments.lock().unwrap());
    moments.retain(is_stopped);
    assert!(!moments.is_empty(), "the run is saved after its stop");
    for moment in &mut moments {
        moment.end = Some(end.clone());
    }
    moments
}

/// The process dies while a tool runs, and the next one waits for a decision about its call.
async fn unknown_outcome(owner: &str) -> Vec<Moment> {
    let (camera, sessions, state) = world(owner);
    let agent = agent(&camera.server);
    let mut run = Run::start_with(&agent, state, "go", Ran::default()).unwrap();
    run_to_start(&mut run, "send").await;
    let state = run.suspend();
    let sessions = Some(sessions).filter(|_| state.session().is_some());
    let mut next = Run::resume(&agent, state, sessions, Ran::default()).unwrap();
    while next.next().await.is_some() {}
    camera.save_run("run", Some(&next.suspend().to_json())).await.unwrap();
    let moments = std::mem::take(&mut *camera.moments.lock().unwrap());
    assert!(moments[0].state.get().contains("outcome_unknown"));
    moments
}

async fn cancelled(owner: &str, mode: CancelMode) -> Vec<Moment> {
    let (camera, sessions, state) = world(owner);
    let run = Run::start_with(&agent(&camera.server), state, "go", Ran::default()).unwrap();
    let mut run = run.journal(sessions, "run");
    run_to_start(&mut run, "send").await;
    run.cancel(mode);
    let result = finish(run, false).await;
    assert_eq!(result.end(), &End::Cancelled);
    stopped(&camera, &End::Cancelled)
}

async fn tripped(owner: &str) -> Vec<Moment> {
    let (camera, sessions, state) = world(owner);
    let run = Run::start_with(&guarded_agent(&camera.server), state, "go", Ran::default());
    let result = finish(run.unwrap().journal(sessions, "run"), false).await;
    let end = End::Tripped { guardrail: "trips".into() };
    assert_eq!(result.end(), &end);
    stopped(&camera, &end)
}

/// Writes the fixtures of the present version.
#[tokio::test]
#[ignore = "writes files"]
async fn write_stopped_fixtures() {
    for owner in OWNERS {
        let file = fixtures().join(format!("v{VERSION}_{owner}_stopped.jsonl"));
        let mut moments = unknown_outcome(owner).await;
        moments.extend(cancelled(owner, CancelMode::Immediate).await);
        moments.extend(cancelled(owner, CancelMode::AfterTurn).await);
        moments.extend(tripped(owner).await);
        write(&file, &moments);
    }
}
