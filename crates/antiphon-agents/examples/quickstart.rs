//! An agent with a tool, a session, and an approval.
//!
//! The built-in model needs no key. `Model::responses("gpt-5")` asks OpenAI.

use antiphon_agents::session::MemorySessions;
use antiphon_agents::{Agent, Model, Run, State, ToolContext, tool};
use schemars::JsonSchema;
use serde::Deserialize;

struct Shop {
    currency: &'static str,
}

#[derive(Deserialize, JsonSchema)]
struct Refund {
    /// The number of the order.
    order: String,
    cents: u64,
}

/// Refunds an order.
#[tool(needs_approval = |refund: &Refund| refund.cents > 5_000)]
async fn refund(cx: &ToolContext<Shop>, refund: Refund) -> String {
    format!("refunded {} cents ({}) of {}", refund.cents, cx.context().currency, refund.order)
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let billing = Agent::new("billing").instructions("You refund orders.");
    let billing = billing.tool(refund).model(Model::sim());

    let state = State::session(MemorySessions::new(), "user-7");
    let shop = Shop { currency: "EUR" };
    let mut run = Run::start_with(&billing, state, "Refund order A1, cents 9900", shop)?;
    while let Some(event) = run.next().await {
        print!("{}", event.text().unwrap_or_default());
    }
    // The run waits: 99 EUR need an approval.
    for call in run.waiting() {
        println!("{}({}) waits for an approval", call.tool(), call.arguments());
        run.approve(call.call_id())?;
    }
    let result = run.finish().await?;
    println!("{}", result.text());
    assert!(result.text().contains("refunded 9900 cents (EUR) of A1"));
    Ok(())
}
