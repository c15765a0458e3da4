use antiphon_agents::tool;

struct Refund {
    order: String,
}

struct Limits {
    cents: u32,
}

/// Refunds an order.
#[tool]
async fn refund(Refund { order }: Refund, Limits { cents }: Limits) -> String {
    format!("{order} {cents}")
}

fn main() {}
