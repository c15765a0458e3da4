//! The tools of an MCP server, with a prefix, a filter and a rule for approvals.

use std::time::Duration;

use antiphon_agents::mcp::McpServer;
use antiphon_agents::model::{Model, ScriptedAnswer};
use antiphon_agents::{Agent, Run, State};
use serde_json::json;

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

    let call = ScriptedAnswer::new().call("call_1", "math_add", json!({"a": 2, "b": 3}));
    let model = Model::scripted([call, "It is 5.".into()]);
    let agent = Agent::new("calculator").tools(math.tools().await?).model(model);
    let result = Run::start(&agent, State::empty(), "What is 2 + 3?")?.finish().await?;
    let output = result.items()[2].object();
    assert_eq!(output.string("output").as_deref(), Some(r#"{"sum":5}"#));
    println!("{}", result.text());

    math.close().await;
    Ok(())
}
