//! An agent with a tool, a session, and an approval.
//!
//! The built-in model needs no key. `Model::responses("gpt-5")` asks OpenAI.

use antiphon_agents::session::MemorySessions;
use antiphon_agents::{Agent, Model, Run, State, tool};

/// Refunds an order.
#[tool(needs_approval = true)]
async fn refund(order: String, cents: u64) -> String {
    format!("refunded {cents} cents of {order}")
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = Agent::new("billing").tool(refund).model(Model::sim());
    let state = State::session(MemorySessions::new(), "user-7");
    let mut run = Run::start(&agent, state, "Refund order A1, cents 9900")?;
    while let Some(event) = run.next().await {
        print!("{}", event.text().unwrap_or_default());
    }
    for call in run.waiting() {
        println!("{}({}) waits for an approval", call.tool(), call.arguments());
        run.approve(call.call_id())?;
    }
    let text = run.finish().await?.text();
    println!("{text}");
    assert!(text.contains("refunded 9900 cents of A1"));
    Ok(())
}
