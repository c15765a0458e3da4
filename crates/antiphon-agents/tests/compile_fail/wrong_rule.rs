use antiphon_agents::tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Refund {
    cents: u32,
}

/// Refunds an order.
#[tool(needs_approval = |refund| refund.euros > 50)]
async fn refund(refund: Refund) -> String {
    refund.cents.to_string()
}

fn main() {}
