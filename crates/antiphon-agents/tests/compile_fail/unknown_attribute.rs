use antiphon_agents::tool;

/// Refunds an order.
#[tool(needs_aproval = true)]
async fn refund(order: String) -> String {
    order
}

/// Refunds an order.
#[tool(timeout = "5s", timeout = "6s")]
async fn twice(order: String) -> String {
    order
}

fn main() {}
