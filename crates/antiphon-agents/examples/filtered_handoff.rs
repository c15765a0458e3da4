//! A handoff with a filter, over a conversation that a server owns.
//!
//! A server gives the model all items of a conversation. So the next agent continues in a new
//! conversation that begins with the filtered items, and the first one stays as it is.

use antiphon_agents::{Agent, Handoff, Model, Run, RunTree, State};

/// A gateway in this process, with the built-in model. `antiphon serve` starts one.
#[path = "../tests/it/gateway.rs"]
mod gateway;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Model::responses("sim").at(gateway::start().await).key("any");
    let id = model.backend().create_conversation(Vec::new()).await?;

    let billing = Agent::new("billing").instructions("You refund orders.");
    // Billing reads the messages of the user, and no calls and outputs.
    let handoff = Handoff::to(&billing).remove_tools();
    let triage = Agent::new("triage").handoff(handoff).model(model);

    let state = State::conversation(id);
    let run = Run::start(&triage, state, "Transfer to billing: refund order A1")?;
    let result = run.finish().await?;
    println!("{}", RunTree(result.state()));
    assert_eq!(result.agent(), "billing");
    assert_eq!(result.state().forks().len(), 1);
    Ok(())
}
