use antiphon_agents::tool;

struct Currency;

/// Converts money.
#[tool]
async fn convert(amount: f64, to: Currency) -> String {
    let _ = to;
    amount.to_string()
}

fn main() {}
