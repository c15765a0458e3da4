//! The five owners of a conversation's state: the next run of each begins where the last one ended.

use std::sync::Arc;

use antiphon_agents::machine::RunState;
use antiphon_agents::session::StoreSessions;
use antiphon_agents::{Agent, Model, Run, State};

/// A gateway in this process, with the built-in model. `antiphon serve` starts one.
#[path = "../tests/it/gateway.rs"]
mod gateway;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A server that stores conversations and responses: the gateway, or OpenAI.
    let model = Model::responses("sim").at(gateway::start().await).key("any");
    let agent = Agent::new("assistant").model(model.clone());

    // 1. The application keeps the items.
    let first = Run::start(&agent, State::empty(), "My color is purple")?.finish().await?;
    let state = State::replay(first.next_input());
    let second = Run::start(&agent, state, "What is my color?")?.finish().await?;
    assert_eq!(second.next_input().len(), 4);
    println!("{}", second.text());

    // 2. A session keeps them: here in memory, with `sqlite:PATH` in a file.
    let sessions = StoreSessions::open("sqlite::memory:").await?;
    for text in ["My color is purple", "What is my color?"] {
        let state = State::session(sessions.clone(), "user-7");
        println!("{}", Run::start(&agent, state, text)?.finish().await?.text());
    }

    // 3. The server keeps them in a conversation.
    let id = model.backend().create_conversation(Vec::new()).await?;
    for text in ["My color is purple", "What is my color?"] {
        let run = Run::start(&agent, State::conversation(id.clone()), text)?;
        println!("{}", run.finish().await?.text());
    }

    // 4. The server keeps them in a chain of responses.
    let first = Run::start(&agent, State::chain(), "My color is purple")?.finish().await?;
    let run = Run::start(&agent, first.next_state(), "What is my color?")?;
    println!("{}", run.finish().await?.text());

    // 5. A run that stopped continues from its state, with any owner.
    let state = State::session(sessions.clone(), "user-7");
    let run = Run::start(&agent, state, "Tell me my color again")?;
    let state = RunState::read(&run.suspend().to_json())?;
    let resumed = Run::resume(&agent, state, Some(Arc::new(sessions)), ())?;
    let text = resumed.finish().await?.text();
    println!("{text}");
    assert!(text.contains("color is purple"));
    Ok(())
}
