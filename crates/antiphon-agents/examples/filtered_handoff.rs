//! A handoff with a filter, over a conversation that a server owns.
//!
//! A server gives the model all items of a conversation. So the next agent continues in a new
//! conversation that begins with the filtered items, and the first one stays as it is.

use antiphon_agents::model::Model;
use antiphon_agents::{Agent, Handoff, Run, RunTree, State};
use antiphon_mock::{Answer, StrictProvider};

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = StrictProvider::start().await;
    server.script(Answer::new("think-1").call("call_1", "transfer_to_billing", "{}"));
    server.script(Answer::new("think-1").message("How much was it?"));
    let model = Model::responses("think-1").at(server.base_url()).key("any");
    let id = model.backend().create_conversation(Vec::new()).await?;

    let billing = Agent::new("billing").instructions("You refund orders.");
    let handoff = Handoff::to(&billing).filter(|items| items.into_iter().take(1).collect());
    let triage = Agent::new("triage").handoff(handoff).model(model);

    let result = Run::start(&triage, State::conversation(id), "My money, please")?.finish().await?;
    println!("{}", RunTree(result.state()));
    assert_eq!(result.state().forks().len(), 1);
    assert_eq!((server.refusals().len(), server.duplicates().len()), (0, 0));
    Ok(())
}
