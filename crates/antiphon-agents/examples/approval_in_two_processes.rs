//! A tool with a context, and an approval by another process. Run it twice: the first run writes
//! its state to a file and ends. The second one reads the file, approves the call and continues.

use std::error::Error;
use std::fs;
use std::path::Path;

use antiphon_agents::agent::WithModel;
use antiphon_agents::machine::RunState;
use antiphon_agents::{Agent, Model, Run, State, ToolContext, tool};

/// The value that all tools share. Each process makes its own.
struct Shop {
    currency: &'static str,
}

/// Refunds an order.
#[tool(needs_approval = true)]
async fn refund(cx: &ToolContext<Shop>, order: String, cents: u64) -> String {
    format!("refunded {cents} cents of {order} in {}", cx.context().currency)
}

fn agent() -> Agent<Shop, WithModel> {
    Agent::new("billing").tool(refund).model(Model::sim())
}

/// The first process: it stops while the call waits.
pub(crate) async fn ask(file: &Path) -> Result<(), Box<dyn Error>> {
    let (input, shop) = ("Refund order A1, cents 9900", Shop { currency: "EUR" });
    let mut run = Run::start_with(&agent(), State::empty(), input, shop)?;
    while run.next().await.is_some() {}
    for call in run.waiting() {
        println!("{}({}) waits for an approval", call.tool(), call.arguments());
    }
    fs::write(file, run.suspend().to_json())?;
    Ok(())
}

/// The second process: it approves each call that waits, and returns the answer.
pub(crate) async fn approve(file: &Path) -> Result<String, Box<dyn Error>> {
    let state = RunState::read(&fs::read_to_string(file)?)?;
    let mut run = Run::resume(&agent(), state, None, Shop { currency: "EUR" })?;
    for call in run.waiting() {
        run.approve(call.call_id())?;
    }
    let text = run.finish().await?.text();
    fs::remove_file(file)?;
    Ok(text)
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let file = Path::new("waiting-run.json");
    match file.exists() {
        false => ask(file).await,
        true => approve(file).await.map(|text| println!("{text}")),
    }
}
