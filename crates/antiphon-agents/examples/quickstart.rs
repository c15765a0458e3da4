//! An agent with a tool, a session, and an approval.
//!
//! The model is scripted, so the example needs no key. `Model::responses("gpt-5")` asks OpenAI.

use antiphon_agents::model::{Model, ScriptedAnswer};
use antiphon_agents::session::MemorySessions;
use antiphon_agents::{Agent, Run, State, ToolContext, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

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
    let call =
        ScriptedAnswer::new().call("call_1", "refund", json!({"order": "A1", "cents": 9900}));
    let model = Model::scripted([call, "I have refunded order A1.".into()]);
    let billing =
        Agent::new("billing").instructions("You refund orders.").tool(refund).model(model);

    let state = State::session(MemorySessions::new(), "user-7");
    let shop = Shop { currency: "EUR" };
    let mut run = Run::start_with(&billing, state, "I want my money back", shop)?;
    while let Some(event) = run.next().await {
        print!("{}", event.text().unwrap_or_default());
    }
    // The run waits: 99 EUR need an approval.
    run.approve("call_1")?;
    let result = run.finish().await?;
    println!("{}", result.text());
    assert_eq!(result.text(), "I have refunded order A1.");
    Ok(())
}
