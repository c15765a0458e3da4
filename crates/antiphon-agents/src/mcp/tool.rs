//! A tool of a server.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use rmcp::ServiceError;
use rmcp::model::CallToolRequestParams;
use serde_json::{Map, Value};

use super::{McpCall, McpConnection, McpError, McpToolInfo, Rules, result};
use crate::roster::Approval;
use crate::tool::{Parameters, Tool, ToolContext, ToolError, ToolOutput, ToolSpec, as_tool_name};

/// A tool of an MCP server. It keeps the connection open.
///
/// If the server may have received a call that failed, the error warns of its possible effect.
#[derive(Clone)]
pub struct McpTool {
    definition: Arc<Definition>,
    connection: McpConnection,
}

/// A tool, without its connection.
pub(super) struct Definition {
    info: McpToolInfo,
    spec: ToolSpec,
}

impl Definition {
    /// The definition of a tool; `None` if the rules leave it out.
    pub(super) fn new(tool: rmcp::model::Tool, rules: &Rules) -> Result<Option<Self>, McpError> {
        let hints = tool.annotations.unwrap_or_default();
        let info = McpToolInfo {
            name: tool.name.into_owned(),
            description: tool.description.unwrap_or_default().into_owned(),
            is_read_only: hints.read_only_hint == Some(true),
            is_destructive: hints.read_only_hint != Some(true) && hints.is_destructive(),
            is_idempotent: hints.is_idempotent(),
        };
        if !rules.uses(&info) {
            return Ok(None);
        }
        let schema = Value::Object((*tool.input_schema).clone());
        let name = as_tool_name(&format!("{}{}", rules.prefix, info.name));
        let parameters = Parameters::from_schema(schema).not_strict();
        let spec = ToolSpec {
            timeout: Some(rules.timeout),
            approval: rules.approval,
            on_unknown: rules.on_unknown,
            on_error: rules.on_error,
            ..ToolSpec::function(name, info.description.clone(), parameters)
        };
        let valid = spec.definition();
        valid.map_err(|reason| McpError::Tool { server: rules.server.clone(), reason })?;
        Ok(Some(Self { info, spec }))
    }
}

impl McpTool {
    pub(super) fn new(definition: &Arc<Definition>, connection: &McpConnection) -> Self {
        Self { definition: Arc::clone(definition), connection: connection.clone() }
    }

    /// The description of the tool by its server.
    pub fn info(&self) -> &McpToolInfo {
        &self.definition.info
    }

    fn error(&self, error: &ServiceError) -> ToolError {
        let server = &self.connection.rules().server;
        match error {
            ServiceError::McpError(error) => {
                ToolError::new(format!("The MCP server returned an error: {}", error.message))
            }
            _ if self.connection.is_closed() => ToolError::new(format!(
                "The MCP server '{server}' has ended. The call may have had its effect."
            )),
            error => ToolError::new(format!(
                "The MCP server '{server}' did not answer: {error}. The call may have had its \
                 effect."
            )),
        }
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl<C: Send + Sync + 'static> Tool<C> for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.definition.spec
    }

    async fn call(&self, _: ToolContext<C>, arguments: &str) -> Result<ToolOutput, ToolError> {
        let arguments = self.definition.spec.parse::<Map<String, Value>>(arguments)?;
        let call = CallToolRequestParams::new(self.info().name.clone()).with_arguments(arguments);
        // If the run drops the call, `rmcp` cancels it at the server.
        match self.connection.peer().call_tool(call).await {
            Ok(result) => result::output(result),
            Err(error) => Err(self.error(&error)),
        }
    }

    fn needs_approval(&self, _: &ToolContext<C>, arguments: &str) -> bool {
        let Definition { info, spec } = &*self.definition;
        match &self.connection.rules().needs_approval {
            Some(rule) if spec.approval == Approval::ByCall => {
                let arguments = spec.parse::<Value>(arguments);
                // With invalid arguments, the tool will not run.
                arguments
                    .is_ok_and(|arguments| rule(&McpCall { tool: info, arguments: &arguments }))
            }
            _ => spec.approval != Approval::Never,
        }
    }
}

impl fmt::Debug for McpTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpTool").field("info", self.info()).finish_non_exhaustive()
    }
}
