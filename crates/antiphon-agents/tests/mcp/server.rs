//! An MCP server for tests, by the server half of `rmcp`.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use axum::Router;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ResourceContents, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// A server with one tool for each kind of result.
#[derive(Clone, Default)]
pub(crate) struct TestServer {
    /// The number of times that the tools were listed.
    pub(crate) listed: Arc<AtomicUsize>,
    /// Whether the list of the tools has no end.
    pub(crate) is_endless: Arc<AtomicBool>,
    /// The number of tools that `grow` added.
    grown: Arc<AtomicUsize>,
    /// Notified when `hang` runs.
    pub(crate) hanging: Arc<Notify>,
    /// Notified when a call of `hang` is cancelled.
    pub(crate) cancelled: Arc<Notify>,
}

/// The tools that are always there.
const TOOLS: [&str; 10] =
    ["echo", "add", "picture", "report", "broken", "refuse", "hang", "exit", "large", "grow"];

impl ServerHandler for TestServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        ServerConfig::new(capabilities.build())
            .with_server_info(Implementation::new("test", "1"))
            .with_instructions("Add before you echo.")
    }

    /// Lists the tools that are always there, and on a second page those that `grow` added.
    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let is_endless = self.is_endless.load(Ordering::SeqCst);
        if is_endless || request.is_none_or(|page| page.cursor.is_none()) {
            self.listed.fetch_add(1, Ordering::SeqCst);
            let tools = TOOLS.map(|name| tool(name.to_owned()));
            let mut page = ListToolsResult::with_all_items(tools.into());
            page.next_cursor = Some("grown".to_owned());
            return Ok(page);
        }
        let grown = (0..self.grown.load(Ordering::SeqCst)).map(|number| format!("grown.{number}"));
        Ok(ListToolsResult::with_all_items(grown.map(tool).collect()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(call.arguments.unwrap_or_default());
        let result = match &*call.name {
            "echo" => text(arguments["text"].as_str().unwrap_or_default()),
            "add" => {
                let sum = arguments["a"].as_i64().zip(arguments["b"].as_i64()).map(|(a, b)| a + b);
                let mut result = CallToolResult::success(Vec::new());
                result.structured_content = Some(json!({"sum": sum}));
                result
            }
            "picture" => CallToolResult::success(vec![
                ContentBlock::text("A dot:"),
                ContentBlock::image("aGk=", "image/png"),
            ]),
            "report" => {
                let pdf = ResourceContents::blob("aGk=", "file:///reports/may.pdf");
                CallToolResult::success(vec![
                    ContentBlock::resource(pdf.with_mime_type("application/pdf")),
                    ContentBlock::audio("aGk=", "audio/wav"),
                ])
            }
            "broken" => CallToolResult::error(vec![ContentBlock::text("the printer is on fire")]),
            "refuse" => return Err(ErrorData::invalid_params("no such city", None)),
            "large" => text(&"x".repeat(1 << 20)),
            "exit" => std::process::exit(3),
            "grow" => {
                self.grown.fetch_add(1, Ordering::SeqCst);
                let _ = context.peer.notify_tool_list_changed().await;
                text("grown")
            }
            "hang" => {
                self.hanging.notify_one();
                context.ct.cancelled().await;
                self.cancelled.notify_one();
                text("cancelled")
            }
            other => return Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        };
        Ok(result.into())
    }
}

fn tool(name: String) -> Tool {
    let schema = match name.as_str() {
        "echo" => json!({
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        }),
        "add" => json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        }),
        _ => json!({"type": "object"}),
    };
    let Value::Object(schema) = schema else { unreachable!("the schemas are objects") };
    let is_read_only = matches!(name.as_str(), "echo" | "add");
    Tool::new(name, "A tool of the test.", schema)
        .annotate(ToolAnnotations::new().read_only(is_read_only))
}

fn text(text: &str) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// Serves the standard input and output until they are closed.
pub(crate) async fn serve_stdio() {
    // Without a client, its input ends at once.
    if let Ok(service) = TestServer::default().serve(stdio()).await {
        let _ = service.waiting().await;
    }
}

/// A server of streamable HTTP on a loopback socket. Dropping it closes all of its connections.
pub(crate) struct HttpServer {
    pub(crate) url: String,
    pub(crate) server: TestServer,
    serving: tokio::task::JoinHandle<io::Result<()>>,
    sessions: CancellationToken,
}

impl HttpServer {
    pub(crate) async fn start() -> Self {
        let server = TestServer::default();
        let sessions = CancellationToken::new();
        let (handler, config) = (server.clone(), StreamableHttpServerConfig::default());
        let service = StreamableHttpService::new(
            move || Ok(handler.clone()),
            Arc::new(LocalSessionManager::default()),
            config.with_sse_retry(None).with_cancellation_token(sessions.clone()),
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let url = format!("http://{}/mcp", listener.local_addr().expect("it is bound"));
        let router = Router::new().route_service("/mcp", service);
        let serving = tokio::spawn(async { axum::serve(listener, router).await });
        Self { url, server, serving, sessions }
    }

    /// Closes the socket and all connections, as if the process of the server died.
    pub(crate) fn kill(&self) {
        self.serving.abort();
        self.sessions.cancel();
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.kill();
    }
}
