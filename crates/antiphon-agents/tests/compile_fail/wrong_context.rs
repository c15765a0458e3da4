use antiphon_agents::tool;

struct Shop;

/// Refunds an order.
#[tool]
async fn refund(shop: &Shop, order: String) -> String {
    let _ = shop;
    order
}

fn main() {}
