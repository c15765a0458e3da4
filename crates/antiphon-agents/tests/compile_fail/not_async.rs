use antiphon_agents::tool;

/// Refunds an order.
#[tool]
fn refund(order: String) -> String {
    order
}

fn main() {}
