//! An approval that is given after a restart of the process.

use std::sync::Arc;

use antiphon_agents::agent::WithModel;
use antiphon_agents::machine::RunState;
use antiphon_agents::session::{SessionStore, StoreSessions};
use antiphon_agents::{Agent, Model, Run, State, tool};

/// Deletes a file.
#[tool(needs_approval = true)]
async fn delete(path: String) -> String {
    format!("deleted {path}")
}

fn agent() -> Agent<(), WithModel> {
    Agent::new("files").tool(delete).model(Model::sim())
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sessions: Arc<dyn SessionStore> = Arc::new(StoreSessions::open("sqlite::memory:").await?);

    // The first process stops while the call waits.
    let state = State::shared_session(Arc::clone(&sessions), "user-7");
    let mut run = Run::start(&agent(), state, "Delete the path notes.txt")?;
    while run.next().await.is_some() {}
    let call_id = run.waiting()[0].call_id().to_owned();
    let saved = run.suspend().to_json();

    // The second process reads the state, and continues.
    let state = RunState::read(&saved)?;
    let mut run = Run::resume(&agent(), state, Some(sessions), ())?;
    run.approve(&call_id)?;
    let text = run.finish().await?.text();
    println!("{text}");
    assert!(text.contains("deleted notes.txt"));
    Ok(())
}
