use std::rc::Rc;

use antiphon_agents::tool;

async fn wait() {}

/// Counts.
#[tool]
async fn count() -> String {
    let count = Rc::new(1);
    wait().await;
    count.to_string()
}

fn main() {}
