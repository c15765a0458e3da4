//! A server over streamable HTTP.

use antiphon_agents::machine::End;
use antiphon_agents::mcp::{McpError, McpServer};
use antiphon_agents::tool::ToolOutput;
use antiphon_agents::{RunEvent, rules::CancelMode};
use serde_json::json;

use crate::server::HttpServer;
use crate::{agent, call, start};

#[tokio::test]
async fn tools_of_a_url_are_called() {
    let http = HttpServer::start().await;
    let server = McpServer::http(&http.url).key("k").header("x-team", "a").connect().await.unwrap();
    let output = call(&server, "add", json!({"a": 2, "b": 3})).await.unwrap();
    assert_eq!(output, ToolOutput::text(r#"{"sum":5}"#));
    server.close().await;
}

#[tokio::test]
async fn server_that_dies_in_a_call_does_not_end_the_run() {
    let http = HttpServer::start().await;
    let server = McpServer::http(&http.url).connect().await.unwrap();
    let (agent, script) = agent(&server, "hang").await;
    let hanging = http.server.hanging.clone();
    let (result, ()) = tokio::join!(start(&agent).finish(), async {
        hanging.notified().await;
        http.kill();
    });
    assert_eq!(result.unwrap().text(), "I see.");
    let output = script.requests()[1].items.last().unwrap().text().to_owned();
    assert!(output.contains("The call may have had its effect."), "{output}");
}

#[tokio::test]
async fn cancelled_run_cancels_the_call_at_the_server() {
    let http = HttpServer::start().await;
    let server = McpServer::http(&http.url).connect().await.unwrap();
    let (agent, _) = agent(&server, "hang").await;
    let mut run = start(&agent);
    while !matches!(run.next().await, Some(RunEvent::ToolStarted(_))) {}
    tokio::select! {
        event = run.next() => panic!("the tool hangs: {event:?}"),
        () = http.server.hanging.notified() => {}
    }
    run.cancel(CancelMode::Immediate);
    assert_eq!(run.into_result().await.unwrap().end(), &End::Cancelled);
    http.server.cancelled.notified().await;
}

#[tokio::test]
async fn too_long_event_is_an_error() {
    let http = HttpServer::start().await;
    let server = McpServer::http(&http.url).max_message(64 << 10).connect().await.unwrap();
    let error = call(&server, "large", json!({})).await.unwrap_err();
    let text = "The answer is longer than 65536 bytes. The call may have had its effect.";
    assert!(error.message().ends_with(text), "{error}");
    let output = call(&server, "echo", json!({"text": "Hi"})).await.unwrap();
    assert_eq!(output, ToolOutput::text("Hi"));
}

#[tokio::test]
async fn unreachable_url_is_an_error() {
    let http = HttpServer::start().await;
    http.kill();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let error = McpServer::http(url).connect().await.unwrap_err();
    assert!(matches!(error, McpError::Connect { .. }), "{error}");
    let error = McpServer::http(&http.url).header("a b", "c").connect().await.unwrap_err();
    assert_eq!(error, McpError::Header("a b".to_owned()));
}
