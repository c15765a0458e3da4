use antiphon_agents::tool;

#[tool]
struct Refund;

struct Shop;

impl Shop {
    #[tool]
    async fn refund(&self) {}
}

fn main() {}
