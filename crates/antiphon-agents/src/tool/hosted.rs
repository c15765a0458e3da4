//! Tools that the provider runs.

use serde_json::{Map, Value, json};

use crate::model::ToolDefinition;

/// A tool that the provider runs itself, such as a web search. Its definition is sent as it is.
///
/// ```
/// use antiphon_agents::tool::HostedTool;
/// use serde_json::json;
///
/// let search = HostedTool::web_search().with("search_context_size", "low");
/// assert_eq!(search.kind(), "web_search");
///
/// let tool = HostedTool::from_json(json!({"type": "computer_use_preview"})).unwrap();
/// assert_eq!(tool.definition().to_json(), json!({"type": "computer_use_preview"}));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HostedTool {
    fields: Map<String, Value>,
}

/// The reason why JSON does not define a hosted tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostedToolError {
    /// The value is not an object.
    #[error("the definition of a hosted tool is an object, but got {0}")]
    NotAnObject(&'static str),
    /// The definition does not name its tool.
    #[error("the definition of a hosted tool needs a string `type`")]
    NoType,
    /// The client runs tools of this type.
    #[error("the provider runs no `{0}` tool: define it as a `{1}`")]
    RunByClient(&'static str, &'static str),
}

impl HostedTool {
    /// A search of the web.
    pub fn web_search() -> Self {
        Self::new("web_search")
    }

    /// A search of files in these vector stores.
    pub fn file_search(vector_stores: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let ids: Vec<String> = vector_stores.into_iter().map(Into::into).collect();
        Self::new("file_search").with("vector_store_ids", ids)
    }

    /// A Python interpreter in a container that the provider creates.
    pub fn code_interpreter() -> Self {
        Self::new("code_interpreter").with("container", json!({"type": "auto"}))
    }

    /// Creation of images.
    pub fn image_generation() -> Self {
        Self::new("image_generation")
    }

    /// The tools of an MCP server that the provider calls, without approvals. The calls of servers
    /// that this process connects to are ordinary tools.
    pub fn mcp(label: impl Into<String>, url: impl Into<String>) -> Self {
        let tool = Self::new("mcp").with("server_label", label.into());
        tool.with("server_url", url.into()).with("require_approval", "never")
    }

    /// A tool with this definition. Fails for the tools that the client runs.
    pub fn from_json(definition: Value) -> Result<Self, HostedToolError> {
        let Value::Object(fields) = definition else {
            let got = antiphon::json::type_name(&definition.to_string());
            return Err(HostedToolError::NotAnObject(got));
        };
        match fields.get("type").and_then(Value::as_str) {
            None => Err(HostedToolError::NoType),
            Some("function") => Err(HostedToolError::RunByClient("function", "FunctionTool")),
            Some("custom") => Err(HostedToolError::RunByClient("custom", "FunctionTool")),
            Some(_) => Ok(Self { fields }),
        }
    }

    fn new(kind: &str) -> Self {
        Self { fields: Map::from_iter([("type".to_owned(), kind.into())]) }
    }

    /// Sets a field of the definition.
    #[must_use]
    pub fn with(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.fields.insert(field.into(), value.into());
        self
    }

    /// The `type` of the definition.
    pub fn kind(&self) -> &str {
        self.fields.get("type").and_then(Value::as_str).unwrap_or_default()
    }

    /// The definition in the JSON of the Responses API.
    pub fn definition(&self) -> ToolDefinition {
        ToolDefinition::from(&self.fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json_of(tool: &HostedTool) -> Value {
        tool.definition().to_json()
    }

    #[test]
    fn definitions_have_the_fields_of_the_api() {
        assert_eq!(json_of(&HostedTool::web_search()), json!({"type": "web_search"}));
        assert_eq!(
            json_of(&HostedTool::file_search(["vs_1"])),
            json!({"type": "file_search", "vector_store_ids": ["vs_1"]})
        );
        assert_eq!(
            json_of(&HostedTool::code_interpreter()),
            json!({"type": "code_interpreter", "container": {"type": "auto"}})
        );
        let mcp = json_of(&HostedTool::mcp("docs", "https://a.b"));
        assert_eq!(
            (&mcp["server_label"], &mcp["server_url"]),
            (&json!("docs"), &json!("https://a.b"))
        );
    }

    #[test]
    fn tools_of_the_client_are_refused() {
        let refused = |json| HostedTool::from_json(json).unwrap_err().to_string();
        assert_eq!(
            refused(json!({"type": "function", "name": "f"})),
            "the provider runs no `function` tool: define it as a `FunctionTool`"
        );
        assert_eq!(
            refused(json!([])),
            "the definition of a hosted tool is an object, but got an array"
        );
        assert_eq!(
            refused(json!({"type": 1})),
            "the definition of a hosted tool needs a string `type`"
        );
    }
}
