use antiphon_agents::tool;
use antiphon_agents::tool::{FunctionTool, NoArguments, Tool, ToolContext};

struct Shop;
struct Bank;

/// Refunds an order.
#[tool]
async fn refund(cx: &ToolContext<Shop>, order: String) -> String {
    let _ = cx.context();
    order
}

fn add(_: impl Tool<Bank>) {}

fn main() {
    add(refund);
    add(FunctionTool::new("f", "", async |_: ToolContext<Shop>, _: NoArguments| "done"));
    add("refund");
}
