//! The five owners of a conversation's state: the next run of each begins where the last one ended.

use std::sync::Arc;

use antiphon_agents::machine::RunState;
use antiphon_agents::model::Model;
use antiphon_agents::session::StoreSessions;
use antiphon_agents::{Agent, Run, State};
use antiphon_mock::StrictProvider;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A server that stores conversations and responses. In place of it, use OpenAI or the gateway.
    let server = StrictProvider::start().await;
    let model = Model::responses("think-1").at(server.base_url()).key("any");
    let agent = Agent::new("assistant").model(model.clone());

    // 1. The application keeps the items.
    let first = Run::start(&agent, State::empty(), "My color is purple")?.finish().await?;
    let state = State::replay(first.next_input());
    let second = Run::start(&agent, state, "What is my color?")?.finish().await?;
    assert_eq!(second.next_input().len(), 4);

    // 2. A session keeps them: here in memory, with `sqlite:PATH` in a file.
    let sessions = StoreSessions::open("sqlite::memory:").await?;
    for text in ["My color is purple", "What is my color?"] {
        let state = State::session(sessions.clone(), "user-7");
        Run::start(&agent, state, text)?.finish().await?;
    }

    // 3. The server keeps them in a conversation.
    let id = model.backend().create_conversation(Vec::new()).await?;
    for text in ["My color is purple", "What is my color?"] {
        Run::start(&agent, State::conversation(id.clone()), text)?.finish().await?;
    }

    // 4. The server keeps them in a chain of responses.
    let first = Run::start(&agent, State::chain(), "My color is purple")?.finish().await?;
    Run::start(&agent, first.next_state(), "What is my color?")?.finish().await?;

    // 5. A run that stopped continues from its state, with any owner.
    let run = Run::start(&agent, State::session(sessions.clone(), "user-8"), "Hello")?;
    let state = RunState::read(&run.suspend().to_json())?;
    let resumed = Run::resume(&agent, state, Some(Arc::new(sessions)), ())?;
    println!("{}", resumed.finish().await?.text());

    assert_eq!((server.refusals().len(), server.duplicates().len()), (0, 0));
    Ok(())
}
