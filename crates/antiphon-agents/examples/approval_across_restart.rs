//! An approval that is given after a restart of the process.

use std::sync::Arc;

use antiphon_agents::agent::WithModel;
use antiphon_agents::machine::RunState;
use antiphon_agents::model::{Model, ScriptedAnswer};
use antiphon_agents::session::{SessionStore, StoreSessions};
use antiphon_agents::{Agent, Run, State, tool};
use serde_json::json;

/// Deletes a file.
#[tool(needs_approval = true)]
async fn delete(path: String) -> String {
    format!("deleted {path}")
}

fn agent(model: Model) -> Agent<(), WithModel> {
    Agent::new("files").tool(delete).model(model)
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sessions: Arc<dyn SessionStore> = Arc::new(StoreSessions::open("sqlite::memory:").await?);

    // The first process stops while the call waits.
    let call = ScriptedAnswer::new().call("call_1", "delete", json!({"path": "notes.txt"}));
    let state = State::shared_session(Arc::clone(&sessions), "user-7");
    let mut run = Run::start(&agent(Model::scripted([call])), state, "Delete my notes")?;
    while run.next().await.is_some() {}
    let saved = run.suspend().to_json();

    // The second process reads the state, and continues.
    let state = RunState::read(&saved)?;
    let mut run = Run::resume(&agent(Model::scripted(["Gone."])), state, Some(sessions), ())?;
    run.approve("call_1")?;
    let result = run.finish().await?;
    assert!(result.items()[2].text().contains("deleted notes.txt"));
    println!("{}", result.text());
    Ok(())
}
