use antiphon_agents::tool;
use antiphon_agents::tool::NoArguments;

/// Refunds an order.
#[tool(needs_approval = |refund| refund.euros > 50)]
async fn refund(refund: NoArguments) -> String {
    format!("{refund:?}")
}

fn main() {}
