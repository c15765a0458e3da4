use antiphon_agents::tool;
use antiphon_agents::tool::ToolContext;

#[tool]
async fn text(order: &str) -> String {
    order.to_owned()
}

#[tool]
async fn bytes(cx: &ToolContext, bytes: &[u8]) {
    let _ = (cx, bytes);
}

#[tool]
async fn context_last(order: String, cx: &ToolContext) -> String {
    let _ = cx;
    order
}

#[tool]
async fn mutable(cx: &mut ToolContext) {
    let _ = cx;
}

#[tool]
async fn unnamed(_: String, order: String) -> String {
    order
}

fn main() {}
