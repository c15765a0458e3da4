//! An agent that is a tool of another one. Its call waits for an approval of a call inside it.

use antiphon_agents::{Agent, Model, Run, State, tool};

/// Refunds an order.
#[tool(needs_approval)]
async fn refund(order: String) -> String {
    format!("refunded order {order}")
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cashier = Agent::new("cashier").tool(refund).model(Model::sim());
    let cashier = cashier.as_tool("ask_cashier", "Does everything about payments.");
    let clerk = Agent::new("clerk").tool(cashier).model(Model::sim());

    let mut run = Run::start(&clerk, State::empty(), "Ask cashier to refund the order A1.")?;
    while run.next().await.is_some() {}
    // The outer run waits for the call of the inner one.
    run.approve(run.waiting()[0].call_id())?;
    let result = run.finish().await?;

    println!("{}", result.text());
    assert!(result.text().contains("refunded order A1"), "{}", result.text());
    // Two requests of each agent.
    assert_eq!(result.usage().requests, 4);
    Ok(())
}
