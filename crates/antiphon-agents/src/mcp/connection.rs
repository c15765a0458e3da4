//! The connection to a server.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, PaginatedRequestParams, Tool};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::transport::IntoTransport;
use rmcp::{ClientCacheConfig, ClientHandler, Peer, RoleClient, serve_client};

use super::process::Process;
use super::tool::{Definition, McpTool};
use super::{McpError, Rules, Transport, http};

/// A connection to an MCP server. Clones share it.
///
/// The process of a server ends when all clones of its connection and all of its tools are dropped,
/// or by [`close`](Self::close). A server that has ended is not started again: connect again.
#[derive(Clone)]
pub struct McpConnection {
    inner: Arc<Inner>,
}

struct Inner {
    rules: Rules,
    peer: Peer<RoleClient>,
    /// `None` after the connection was closed.
    open: Mutex<Option<Open>>,
    /// The tools as the server listed them last.
    tools: tokio::sync::Mutex<Option<Vec<Arc<Definition>>>>,
    has_changed: Arc<AtomicBool>,
}

/// The parts that end with the connection.
struct Open {
    service: RunningService<RoleClient, Client>,
    process: Option<Process>,
}

/// The client of one connection.
struct Client {
    /// Whether the server has other tools than it listed.
    has_changed: Arc<AtomicBool>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), client)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.has_changed.store(true, Ordering::Release);
    }
}

impl McpConnection {
    pub(super) async fn open(transport: Transport, rules: Rules) -> Result<Self, McpError> {
        let has_changed = Arc::new(AtomicBool::new(false));
        let client = Client { has_changed: Arc::clone(&has_changed) };
        let open = match transport {
            Transport::Stdio(command) => {
                let started = Process::start(command, rules.max_message);
                let (process, pipes) = started.map_err(|error| McpError::Start {
                    server: rules.server.clone(),
                    reason: error.to_string(),
                })?;
                Open { service: initialize(client, pipes, &rules).await?, process: Some(process) }
            }
            Transport::Http(endpoint) => {
                let transport = http::connect(endpoint, &rules)?;
                Open { service: initialize(client, transport, &rules).await?, process: None }
            }
        };
        let peer = open.service.peer().clone();
        // The tools are cached here.
        peer.set_response_cache_config(ClientCacheConfig::disabled()).await;
        let (open, tools) = (Mutex::new(Some(open)), tokio::sync::Mutex::default());
        Ok(Self { inner: Arc::new(Inner { rules, peer, open, tools, has_changed }) })
    }

    /// The tools of the server that its rules allow. They are listed once, and again after the
    /// server reports a change; an agent keeps the tools that it was given.
    pub async fn tools(&self) -> Result<Vec<McpTool>, McpError> {
        let mut tools = self.inner.tools.lock().await;
        if self.inner.has_changed.swap(false, Ordering::AcqRel) {
            *tools = None;
        }
        let tools = match &mut *tools {
            Some(tools) => tools,
            unlisted => unlisted.insert(self.list().await?),
        };
        let tool = |definition: &Arc<Definition>| McpTool::new(definition, self);
        Ok(tools.iter().map(tool).collect())
    }

    /// Forgets the tools, so that [`tools`](Self::tools) lists them again.
    pub fn refresh(&self) {
        self.inner.has_changed.store(true, Ordering::Release);
    }

    /// The instructions of the server for the use of its tools, if it has any.
    pub fn instructions(&self) -> Option<String> {
        self.inner.peer.peer_info()?.instructions.clone()
    }

    /// Whether the server has ended, or its connection is lost or closed.
    pub fn is_closed(&self) -> bool {
        self.inner.peer.is_transport_closed()
    }

    /// Closes the connection, and waits until the process of the server has ended. It is killed if
    /// it has not ended three seconds after its input is closed. Later calls fail.
    pub async fn close(&self) {
        let open = self.inner.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Open { mut service, process }) = open {
            // The task of the connection does not panic.
            let _ = service.close().await;
            if let Some(process) = process {
                process.end().await;
            }
        }
    }

    async fn list(&self) -> Result<Vec<Arc<Definition>>, McpError> {
        let rules = self.rules();
        let error = |reason| McpError::List { server: rules.server.clone(), reason };
        let listed = tokio::time::timeout(rules.timeout, self.list_pages())
            .await
            .map_err(|_| error(format!("no answer within {:?}", rules.timeout)))?
            .map_err(error)?;
        let definitions = listed.into_iter().map(|tool| Definition::new(tool, rules));
        definitions.filter_map(Result::transpose).map(|it| it.map(Arc::new)).collect()
    }

    /// The tools of all pages, which together are not longer than a message may be.
    async fn list_pages(&self) -> Result<Vec<Tool>, String> {
        let max = self.rules().max_message;
        let (mut tools, mut size, mut cursor) = (Vec::new(), 0, None);
        loop {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.peer().list_tools(Some(page)).await;
            let page = page.map_err(|failed| failed.to_string())?;
            size += serde_json::to_vec(&page.tools).map_or(max, |json| json.len());
            if size > max {
                return Err(format!("the list is longer than {max} bytes"));
            }
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(tools);
            }
        }
    }

    pub(super) fn rules(&self) -> &Rules {
        &self.inner.rules
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        &self.inner.peer
    }
}

/// Exchanges the first messages with a server.
async fn initialize<T, E, A>(
    client: Client,
    transport: T,
    rules: &Rules,
) -> Result<RunningService<RoleClient, Client>, McpError>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let error = |reason| McpError::Connect { server: rules.server.clone(), reason };
    tokio::time::timeout(rules.timeout, serve_client(client, transport))
        .await
        .map_err(|_| error(format!("no answer within {:?}", rules.timeout)))?
        .map_err(|failed| error(failed.to_string()))
}

impl fmt::Debug for McpConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpConnection")
            .field("server", &self.rules().server)
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
