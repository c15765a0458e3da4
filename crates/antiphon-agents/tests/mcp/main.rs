//! Tools of real MCP servers, as a process and over HTTP.

#![allow(clippy::unwrap_used, reason = "a world that cannot be set up fails the test")]

mod http;
mod rules;
mod server;
mod stdio;

use antiphon_agents::agent::WithModel;
use antiphon_agents::mcp::{McpConnection, McpTool};
use antiphon_agents::model::{Model, ScriptedAnswer, ScriptedBackend};
use antiphon_agents::tool::{Tool, ToolContext, ToolError, ToolOutput};
use antiphon_agents::{Agent, Run, State};
use serde_json::Value;

/// Calls a tool, as a run does.
async fn call(
    server: &McpConnection,
    name: &str,
    arguments: Value,
) -> Result<ToolOutput, ToolError> {
    let tool = find(server, name).await;
    tool.call(ToolContext::new((), name, "call_1"), &arguments.to_string()).await
}

async fn find(server: &McpConnection, name: &str) -> McpTool {
    let tools = server.tools().await.unwrap();
    tools.into_iter().find(|tool| tool.info().name == name).unwrap()
}

async fn names(server: &McpConnection) -> Vec<String> {
    let tools = server.tools().await.unwrap();
    tools.iter().map(|tool| Tool::<()>::spec(tool).name.clone()).collect()
}

/// An agent with the tools of a server, whose model calls one of them and then answers.
async fn agent(server: &McpConnection, tool: &str) -> (Agent<(), WithModel>, ScriptedBackend) {
    let call = ScriptedAnswer::new().call("call_1", tool, serde_json::json!({}));
    let script = ScriptedBackend::new([call, "I see.".into()]);
    let tools = server.tools().await.unwrap();
    (Agent::new("tester").tools(tools).model(Model::new("m", script.clone())), script)
}

fn start(agent: &Agent<(), WithModel>) -> Run {
    Run::start(agent, State::empty(), "go").unwrap()
}
