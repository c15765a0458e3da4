//! The rules for the tools of a server.

use std::sync::atomic::Ordering;

use antiphon_agents::TeamError;
use antiphon_agents::machine::{End, Pause};
use antiphon_agents::mcp::{McpError, McpServer};
use antiphon_agents::tool::{OnToolError, Tool, ToolContext};
use antiphon_agents::{Agent, Model, Run, State};
use serde_json::json;

use crate::server::HttpServer;
use crate::{agent, call, find, names, start};

#[tokio::test]
async fn filters_and_prefix_choose_the_tools() {
    let http = HttpServer::start().await;
    let server = McpServer::http(&http.url).allow(["add", "echo", "exit"]).deny(["exit"]);
    let server = server.filter(|tool| tool.is_read_only).prefix("math_").connect().await.unwrap();
    assert_eq!(names(&server).await, ["math_echo", "math_add"]);
    // The server is called by its own name of the tool.
    assert!(call(&server, "add", json!({"a": 1, "b": 1})).await.is_ok());
}

#[tokio::test]
async fn two_servers_need_a_prefix() {
    let http = HttpServer::start().await;
    let connect = |prefix: &str| McpServer::http(&http.url).prefix(prefix).connect();
    let (one, two, other) = tokio::join!(connect(""), connect(""), connect("b_"));
    let (one, two, other) = (one.unwrap(), two.unwrap(), other.unwrap());
    let model = Model::scripted(["Hi."]);
    let agent = Agent::new("a").model(model).tools(one.tools().await.unwrap());
    let both = agent.clone().tools(two.tools().await.unwrap());
    let error = Run::start(&both, State::empty(), "go").unwrap_err();
    let repeated = TeamError::RepeatedTool { agent: "a".into(), tool: "echo".into() };
    assert_eq!(error, repeated);
    let both = agent.tools(other.tools().await.unwrap());
    assert!(Run::start(&both, State::empty(), "go").is_ok());
}

#[tokio::test]
async fn tools_are_listed_again_after_a_change() {
    let http = HttpServer::start().await;
    let server = McpServer::http(&http.url).connect().await.unwrap();
    let listed = || http.server.listed.load(Ordering::SeqCst);
    assert_eq!(names(&server).await.len(), 10);
    assert_eq!(names(&server).await.len(), 10);
    assert_eq!(listed(), 1);
    server.refresh();
    assert_eq!(names(&server).await.len(), 10);
    assert_eq!(listed(), 2);

    call(&server, "grow", json!({})).await.unwrap();
    // The notification arrives by another stream than the output.
    while names(&server).await.len() == 10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(listed(), 3);
    assert_eq!(names(&server).await.last().unwrap(), "grown_0");
}

#[tokio::test]
async fn list_without_end_is_an_error() {
    let http = HttpServer::start().await;
    let server = McpServer::http(&http.url).max_message(64 << 10).connect().await.unwrap();
    http.server.is_endless.store(true, Ordering::SeqCst);
    let error = server.tools().await.unwrap_err();
    assert!(error.to_string().ends_with("the list is longer than 65536 bytes"), "{error}");
    http.server.is_endless.store(false, Ordering::SeqCst);
    assert_eq!(names(&server).await.len(), 10);
}

#[tokio::test]
async fn failed_call_can_end_the_run() {
    let http = HttpServer::start().await;
    let server = McpServer::http(&http.url).on_error(OnToolError::EndRun).connect().await.unwrap();
    let (agent, _) = agent(&server, "broken").await;
    let result = start(&agent).into_result().await.unwrap();
    assert!(matches!(result.end(), End::Failed { .. }), "{:?}", result.end());
}

#[tokio::test]
async fn approval_rule_reads_the_call() {
    let http = HttpServer::start().await;
    let server = McpServer::http(&http.url)
        .needs_approval_if(|call| !call.tool.is_read_only || call.arguments["text"] == "secret");
    let server = server.connect().await.unwrap();
    let echo = find(&server, "echo").await;
    let context = || ToolContext::new((), "echo", "call_1");
    assert!(!echo.needs_approval(&context(), r#"{"text":"Hi"}"#));
    assert!(echo.needs_approval(&context(), r#"{"text":"secret"}"#));

    let (agent, _) = agent(&server, "broken").await;
    let mut run = start(&agent);
    while run.next().await.is_some() {}
    assert!(matches!(run.waiting().as_slice(), [Pause::Approval(_)]));
    run.approve("call_1").unwrap();
    assert_eq!(run.finish().await.unwrap().text(), "I see.");
}

#[tokio::test]
async fn every_call_can_need_an_approval() {
    let http = HttpServer::start().await;
    let server = McpServer::http(&http.url).always_needs_approval().connect().await.unwrap();
    let echo = find(&server, "echo").await;
    assert!(echo.needs_approval(&ToolContext::new((), "echo", "call_1"), r#"{"text":"Hi"}"#));
}

#[tokio::test]
async fn name_that_is_too_long_is_an_error() {
    let http = HttpServer::start().await;
    let server = McpServer::http(&http.url).prefix("p".repeat(64)).connect().await.unwrap();
    assert!(matches!(server.tools().await, Err(McpError::Tool { .. })));
}
