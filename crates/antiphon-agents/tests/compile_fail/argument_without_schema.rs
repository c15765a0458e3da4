use antiphon_agents::tool;

struct Refund {
    order: String,
}

/// Refunds an order.
#[tool]
async fn refund(refund: Refund) -> String {
    refund.order
}

fn main() {}
