//! A server that is a process.

use std::process::{Command, Stdio};
use std::time::Duration;

use antiphon_agents::mcp::{McpConnection, McpError, McpServer};
use antiphon_agents::tool::{ContentPart, ToolErrorKind, ToolOutput};
use serde_json::json;

use crate::{agent, call, find, server, start};

/// The process of this test program that serves: libtest writes lines that a client has to skip.
fn command() -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", "stdio::serves_a_client"]);
    command.stderr(Stdio::null());
    command
}

#[tokio::test]
#[ignore = "the process of the server"]
async fn serves_a_client() {
    server::serve_stdio().await;
}

async fn connect() -> McpConnection {
    McpServer::stdio(command()).connect().await.unwrap()
}

#[tokio::test]
async fn results_are_outputs() {
    let server = connect().await;
    let output = call(&server, "echo", json!({"text": "Hi"})).await.unwrap();
    assert_eq!(output, ToolOutput::text("Hi"));
    let output = call(&server, "add", json!({"a": 2, "b": 3})).await.unwrap();
    assert_eq!(output, ToolOutput::text(r#"{"sum":5}"#));
    let output = call(&server, "picture", json!({})).await.unwrap();
    let image = ContentPart::ImageUrl("data:image/png;base64,aGk=".to_owned());
    assert_eq!(output, ToolOutput::parts([ContentPart::Text("A dot:".to_owned()), image]));
    let output = call(&server, "report", json!({})).await.unwrap();
    let file = ContentPart::FileData {
        name: "may.pdf".to_owned(),
        data: "data:application/pdf;base64,aGk=".to_owned(),
    };
    let audio = ContentPart::Text("(Audio of the type audio/wav was left out.)".to_owned());
    assert_eq!(output, ToolOutput::parts([file, audio]));
    assert_eq!(server.instructions().as_deref(), Some("Add before you echo."));
}

#[tokio::test]
async fn errors_are_messages_for_the_model() {
    let server = connect().await;
    let error = call(&server, "broken", json!({})).await.unwrap_err();
    assert_eq!(error.message(), "the printer is on fire");
    let error = call(&server, "refuse", json!({})).await.unwrap_err();
    assert_eq!(error.message(), "The MCP server returned an error: no such city");
    let error = call(&server, "echo", json!({"text": 1})).await.unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
}

#[tokio::test]
async fn server_that_dies_in_a_call_does_not_end_the_run() {
    let server = connect().await;
    let (agent, script) = agent(&server, "exit").await;
    let result = start(&agent).finish().await.unwrap();
    assert_eq!(result.text(), "I see.");
    let output = script.requests()[1].items.last().unwrap().text().to_owned();
    assert!(output.contains("has ended. The call may have had its effect."), "{output}");
    assert!(server.is_closed());
    let error = call(&server, "echo", json!({"text": "Hi"})).await.unwrap_err();
    assert!(error.message().contains("has ended"), "{error}");
}

#[tokio::test]
async fn closed_server_ends_its_process() {
    let server = connect().await;
    let tool = find(&server, "echo").await;
    server.close().await;
    assert!(server.is_closed());
    let context = antiphon_agents::ToolContext::new((), "echo", "call_1");
    let error = antiphon_agents::Tool::call(&tool, context, r#"{"text":"Hi"}"#).await.unwrap_err();
    assert!(error.message().contains("has ended"), "{error}");
}

/// The process holds a pipe open, whose end the test reads.
#[cfg(unix)]
#[tokio::test]
async fn dropped_connection_ends_the_process() {
    use tokio::io::AsyncReadExt as _;

    let (mut held, given) = tokio::net::UnixStream::pair().unwrap();
    let given = given.into_std().unwrap();
    let mut command = command();
    command.stderr(std::os::fd::OwnedFd::from(given));
    let server = McpServer::stdio(command).connect().await.unwrap();
    let tools = server.tools().await.unwrap();
    drop(server);
    let context = antiphon_agents::ToolContext::new((), "echo", "call_1");
    let echo = &tools[0];
    assert!(antiphon_agents::Tool::call(echo, context, r#"{"text":"Hi"}"#).await.is_ok());
    drop(tools);
    let mut rest = Vec::new();
    held.read_to_end(&mut rest).await.unwrap();
}

#[tokio::test]
async fn too_long_message_is_not_read() {
    let server = McpServer::stdio(command()).max_message(64 << 10).timeout(Duration::from_secs(2));
    let server = server.connect().await.unwrap();
    let (agent, script) = agent(&server, "large").await;
    start(&agent).finish().await.unwrap();
    let output = script.requests()[1].items.last().unwrap().text().to_owned();
    assert!(output.contains("did not end within 2s"), "{output}");
    let output = call(&server, "echo", json!({"text": "Hi"})).await.unwrap();
    assert_eq!(output, ToolOutput::text("Hi"));
}

#[tokio::test]
async fn program_that_is_no_server_is_an_error() {
    let error = McpServer::stdio(Command::new("/nonexistent/server")).connect().await.unwrap_err();
    assert!(matches!(&error, McpError::Start { server, .. } if server == "/nonexistent/server"));
    let error = McpServer::stdio(Command::new("true")).connect().await.unwrap_err();
    assert!(matches!(error, McpError::Connect { .. }), "{error}");
}
