//! A long session is compacted to a summary between two turns. Pinned items stay as they are.

use antiphon::Item;
use antiphon_agents::model::{Model, ScriptedBackend};
use antiphon_agents::session::{SessionStore, StoreSessions};
use antiphon_agents::{Agent, Compaction, Run, State};

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sessions = StoreSessions::open("sqlite::memory:").await?;
    let script = ScriptedBackend::new(["Noted.", "Two.", "The user counts.", "Three, in order 7."]);
    let agent = Agent::new("counter").model(Model::new("m", script.clone()));
    let compaction = Compaction::by_model().at_items(2).pin(|item| item.text().contains("order 7"));
    for text in ["this is order 7", "count to two", "go on"] {
        let state = State::session(sessions.clone(), "user-7");
        let run = Run::start(&agent, state, text)?.compaction(compaction.clone());
        println!("{}", run.finish().await?.text());
    }

    // The third answer was given from the pinned message, the summary and the new message.
    let requests = script.requests();
    let read: Vec<_> = requests[3].items.iter().map(Item::text).collect();
    assert_eq!(read.len(), 3);
    assert!(read[0].contains("this is order 7") && read[1].contains("The user counts."));
    assert_eq!(sessions.load("user-7").await?.items.len(), 4);
    Ok(())
}
