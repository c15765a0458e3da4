//! Tools of MCP servers.
//!
//! An [`McpServer`] describes a server and the rules for its tools; [`McpServer::connect`] returns
//! an [`McpConnection`], whose tools are ordinary tools of an agent.
//!
//! ```no_run
//! use std::process::Command;
//!
//! use antiphon_agents::mcp::McpServer;
//! use antiphon_agents::{Agent, Model};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mut command = Command::new("npx");
//! command.args(["-y", "@modelcontextprotocol/server-filesystem", "/srv/notes"]);
//! let notes = McpServer::stdio(command)
//!     .prefix("notes_")
//!     .deny(["move_file"])
//!     .needs_approval_if(|call| !call.tool.is_read_only)
//!     .connect()
//!     .await?;
//! let agent = Agent::new("editor").tools(notes.tools().await?).model(Model::responses("gpt-5"));
//! # let _: Agent<(), _> = agent;
//! # Ok(())
//! # }
//! ```
//!
//! # Guarantees
//!
//! - Every call has an output, also if the server fails, ends or does not answer in time: the model
//!   reads the error, and the run continues. [`McpServer::on_error`] ends the run instead.
//! - The arguments match the tool's schema before the server gets them.
//! - No message and no list of tools that is longer than [`McpServer::max_message`] is read into
//!   memory.
//! - The process of a server ends with the last clone of its connection and the last of its tools.

mod connection;
mod http;
mod process;
mod result;
mod tool;

use std::fmt;
use std::process::Command;
use std::time::Duration;

use antiphon_client::Secret;
use serde_json::Value;

pub use connection::McpConnection;
pub use tool::McpTool;

use crate::roster::{Approval, OnUnknownOutcome};
use crate::tool::{OnToolError, SpecError};

/// The default time limit of a request.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The default limit of a message in bytes. OpenAI accepts 10,485,760 characters in an output.
const MAX_MESSAGE: usize = 8 << 20;

/// An MCP server, and the rules for its tools.
pub struct McpServer {
    transport: Transport,
    rules: Rules,
}

/// The rules for the tools of a server.
struct Rules {
    /// The name of the server in errors.
    server: String,
    prefix: String,
    filters: Vec<Box<Filter>>,
    approval: Approval,
    needs_approval: Option<Box<ApprovalRule>>,
    on_unknown: OnUnknownOutcome,
    on_error: OnToolError,
    timeout: Duration,
    max_message: usize,
}

type Filter = dyn Fn(&McpToolInfo) -> bool + Send + Sync;
type ApprovalRule = dyn Fn(&McpCall<'_>) -> bool + Send + Sync;

/// The way to reach a server.
enum Transport {
    Stdio(Command),
    Http(Endpoint),
}

/// A server over HTTP.
struct Endpoint {
    url: String,
    key: Option<Secret>,
    headers: Vec<(String, String)>,
}

/// The description of a tool, as its server gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpToolInfo {
    /// The server's name of the tool.
    pub name: String,
    /// The description.
    pub description: String,
    /// Whether the tool changes nothing, by the server's hint.
    pub is_read_only: bool,
    /// Whether the tool may delete or overwrite, by the server's hint.
    pub is_destructive: bool,
    /// Whether a repeated call has no further effect, by the server's hint.
    pub is_idempotent: bool,
}

/// A call, for the decision if it needs an approval.
#[derive(Clone, Copy, Debug)]
pub struct McpCall<'a> {
    /// The tool.
    pub tool: &'a McpToolInfo,
    /// The arguments, which match the tool's schema.
    pub arguments: &'a Value,
}

/// The reason why the tools of a server cannot be used.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The process of the server did not start.
    #[error("the MCP server '{server}' did not start: {reason}")]
    Start {
        /// The server.
        server: String,
        /// The reason.
        reason: String,
    },
    /// A header cannot be sent.
    #[error("'{0}' cannot be the name or the value of an HTTP header")]
    Header(String),
    /// The server did not answer as an MCP server.
    #[error("cannot connect to the MCP server '{server}': {reason}")]
    Connect {
        /// The server.
        server: String,
        /// The reason.
        reason: String,
    },
    /// The server did not list its tools.
    #[error("the MCP server '{server}' did not list its tools: {reason}")]
    List {
        /// The server.
        server: String,
        /// The reason.
        reason: String,
    },
    /// A tool cannot be defined for a model. Leave it out with [`McpServer::deny`].
    #[error("a tool of the MCP server '{server}' cannot be used: {reason}")]
    Tool {
        /// The server.
        server: String,
        /// The reason.
        reason: SpecError,
    },
}

debug_as_text!(McpError);

impl McpServer {
    /// A server that is a process with the standard input and output as its connection. The
    /// process inherits the standard error output, unless the command sets another one.
    pub fn stdio(command: impl Into<Command>) -> Self {
        let command = command.into();
        let name = command.get_program().to_string_lossy().into_owned();
        Self::new(name, Transport::Stdio(command))
    }

    /// A server of the streamable HTTP transport at this URL: `https://example.com/mcp`. Redirects
    /// are not followed.
    pub fn http(url: impl Into<String>) -> Self {
        let url = url.into();
        let endpoint = Endpoint { url: url.clone(), key: None, headers: Vec::new() };
        Self::new(url, Transport::Http(endpoint))
    }

    fn new(server: String, transport: Transport) -> Self {
        let rules = Rules {
            server,
            prefix: String::new(),
            filters: Vec::new(),
            approval: Approval::Never,
            needs_approval: None,
            on_unknown: OnUnknownOutcome::default(),
            on_error: OnToolError::default(),
            timeout: TIMEOUT,
            max_message: MAX_MESSAGE,
        };
        Self { transport, rules }
    }

    /// The name of the server in errors: its program or its URL.
    pub fn name(&self) -> &str {
        &self.rules.server
    }

    /// Sends this bearer token with each HTTP request.
    #[must_use]
    pub fn key(mut self, key: impl Into<Secret>) -> Self {
        if let Transport::Http(endpoint) = &mut self.transport {
            endpoint.key = Some(key.into());
        }
        self
    }

    /// Sends this header with each HTTP request.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Transport::Http(endpoint) = &mut self.transport {
            endpoint.headers.push((name.into(), value.into()));
        }
        self
    }

    /// Begins the names of the tools with this text, so that the tools of two servers can have the
    /// same name. The rules for tools use the names without it.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.rules.prefix = prefix.into();
        self
    }

    /// Uses only the tools with these names.
    #[must_use]
    pub fn allow(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        self.filter(move |tool| names.contains(&tool.name))
    }

    /// Does not use the tools with these names.
    #[must_use]
    pub fn deny(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        self.filter(move |tool| !names.contains(&tool.name))
    }

    /// Uses only the tools for which this function, and every other filter, is true.
    #[must_use]
    pub fn filter(
        mut self,
        is_used: impl Fn(&McpToolInfo) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.rules.filters.push(Box::new(is_used));
        self
    }

    /// Requires an approval of every call.
    #[must_use]
    pub fn always_needs_approval(mut self) -> Self {
        self.rules.approval = Approval::Always;
        self
    }

    /// Requires an approval of the calls for which this function is true.
    #[must_use]
    pub fn needs_approval_if(
        mut self,
        rule: impl Fn(&McpCall<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.rules.approval = Approval::ByCall;
        self.rules.needs_approval = Some(Box::new(rule));
        self
    }

    /// Sets the treatment of a call whose outcome is unknown, because the process of the agent died
    /// while the tool ran.
    #[must_use]
    pub fn on_unknown(mut self, policy: OnUnknownOutcome) -> Self {
        self.rules.on_unknown = policy;
        self
    }

    /// Sets the effect of a failed call on the run; by default the model reads the error.
    #[must_use]
    pub fn on_error(mut self, effect: OnToolError) -> Self {
        self.rules.on_error = effect;
        self
    }

    /// Sets the time limit of each request; by default one minute.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.rules.timeout = limit;
        self
    }

    /// Sets the limit of a message of the server, and of the list of its tools, in bytes; by
    /// default 8 `MiB`. A call with a longer output fails; if the server is a process, at the time
    /// limit.
    #[must_use]
    pub fn max_message(mut self, bytes: usize) -> Self {
        self.rules.max_message = bytes;
        self
    }

    /// Starts the process of the server, or connects to its URL.
    pub async fn connect(self) -> Result<McpConnection, McpError> {
        McpConnection::open(self.transport, self.rules).await
    }
}

impl Rules {
    fn uses(&self, tool: &McpToolInfo) -> bool {
        self.filters.iter().all(|is_used| is_used(tool))
    }
}

/// Without the key and the headers.
impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer").field("name", &self.name()).finish_non_exhaustive()
    }
}
