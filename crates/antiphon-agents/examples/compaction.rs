//! A long session is compacted to a summary between two turns.

use antiphon_agents::model::{Model, ScriptedBackend};
use antiphon_agents::session::{SessionStore, StoreSessions};
use antiphon_agents::{Agent, Compaction, Run, State};

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sessions = StoreSessions::open("sqlite::memory:").await?;
    let script = ScriptedBackend::new(["One.", "Two.", "They counted to two."]);
    let agent = Agent::new("counter").model(Model::new("m", script));
    for text in ["count", "go on"] {
        let state = State::session(sessions.clone(), "user-7");
        let run = Run::start(&agent, state, text)?;
        run.compaction(Compaction::by_model().at_items(2)).finish().await?;
    }
    let items = sessions.load("user-7").await?.items;
    assert_eq!(items.len(), 1);
    assert!(items[0].text().contains("They counted to two."));
    println!("{}", items[0].text());
    Ok(())
}
