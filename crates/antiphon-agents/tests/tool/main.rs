//! The macro `#[tool]` and the tools that it makes.

mod approval;
mod arguments;
mod compile_fail;
mod definition;
mod outcome;

use antiphon_agents::tool::{Tool, ToolContext, ToolError, ToolOutput};
use serde_json::Value;

/// The context of the tools.
struct Shop {
    currency: &'static str,
}

fn context() -> ToolContext<Shop> {
    ToolContext::new(Shop { currency: "EUR" }, "tool", "call_1")
}

async fn call(tool: impl Tool<Shop>, arguments: &str) -> Result<ToolOutput, ToolError> {
    tool.call(context(), arguments).await
}

fn definition(tool: &impl Tool<Shop>) -> Value {
    tool.spec().definition().expect("the spec is valid").to_json()
}
