//! The tools of an MCP server, with a prefix, a filter and a rule for approvals.

use std::time::Duration;

use antiphon_agents::mcp::McpServer;
use antiphon_agents::{Agent, Model, Run, State};

/// A server of this process. `McpServer::stdio(command)` starts one as a process of its own.
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/mcp/server.rs"]
mod server;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let http = server::HttpServer::start().await;
    let math = McpServer::http(&http.url)
        .prefix("math_")
        .allow(["add", "echo"])
        .needs_approval_if(|call| !call.tool.is_read_only)
        .timeout(Duration::from_secs(10))
        .connect()
        .await?;

    let agent = Agent::new("calculator").tools(math.tools().await?).model(Model::sim());
    let run = Run::start(&agent, State::empty(), "Use math_add with a 2 and b 3.")?;
    let text = run.finish().await?.text();
    println!("{text}");
    assert!(text.contains(r#"{"sum":5}"#));

    math.close().await;
    Ok(())
}
