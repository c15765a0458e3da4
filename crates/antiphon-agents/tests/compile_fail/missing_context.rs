use antiphon_agents::{Agent, Model, Run, State, ToolContext, tool};

struct Shop;

/// Refunds an order.
#[tool]
async fn refund(cx: &ToolContext<Shop>, order: String) -> String {
    let Shop = cx.context();
    order
}

fn main() {
    let billing = Agent::new("billing").tool(refund).model(Model::scripted(["Done."]));
    let _ = Run::start(&billing, State::empty(), "Refund A1");
}
