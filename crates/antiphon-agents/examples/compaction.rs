//! A long session is compacted to a summary between two turns. Pinned items stay as they are.

use antiphon::Role;
use antiphon_agents::session::{SessionStore, StoreSessions};
use antiphon_agents::{Agent, Compaction, Item, Model, Run, RunEvent, State};

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sessions = StoreSessions::open("sqlite::memory:").await?;
    let agent = Agent::new("assistant").model(Model::sim());
    // The messages of the user stay.
    let is_of_user = |item: &Item| item.head().role == Some(Role::User);
    let compaction = Compaction::by_model().at_items(2).pin(is_of_user);
    for text in ["My order is order 7", "Count to three", "What is my order?"] {
        let state = State::session(sessions.clone(), "user-7");
        let mut run = Run::start(&agent, state, text)?.compaction(compaction.clone());
        while let Some(event) = run.next().await {
            if let RunEvent::Compacted { old, new, .. } = event {
                println!("{old} items are now {new}");
            }
        }
        println!("{}", run.finish().await?.text());
    }

    // A summary replaces the first two answers.
    let items = sessions.load("user-7").await?.items;
    let texts: Vec<_> = items.iter().map(Item::text).collect();
    assert_eq!(texts.len(), 5, "{texts:#?}");
    assert!(texts[0].contains("My order is order 7") && texts[2].contains("Summary"));
    assert!(texts[4].contains("order 7"));
    Ok(())
}
