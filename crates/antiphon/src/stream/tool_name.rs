//! The name of a tool.

use std::fmt;

use crate::item::{Item, Tool};
use crate::json::Object;

/// The name of a tool, as in a request's definition, in a `tool_choice` and in a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ToolName {
    /// A function or a custom tool, by its name. The names of a request's tools are unique.
    Named(String),
    /// The tools of an MCP server, by its `server_label`.
    Mcp(String),
    /// A provider's built-in tool, by its type without its version: `web_search`, `computer`.
    BuiltIn(String),
}

/// Tools with versioned types (`web_search_preview_2025_03_11`, `computer_use_preview`).
const IN_EDITIONS: [&str; 2] = ["web_search", "computer"];

impl ToolName {
    /// Parses a definition or a choice of a tool, such as `{"type":"function","name":"look"}`.
    /// `None` if the type or the name is missing.
    pub fn from_definition(tool: &Object<'_>) -> Option<Self> {
        let text = |key| tool.string(key).filter(|text| !text.is_empty());
        match &*text("type")? {
            "function" | "custom" => Some(Self::Named(text("name")?.into_owned())),
            "mcp" => Some(Self::Mcp(text("server_label")?.into_owned())),
            kind => {
                let edition = IN_EDITIONS.into_iter().find(|tool| kind.starts_with(tool));
                Some(Self::BuiltIn(edition.unwrap_or(kind).to_owned()))
            }
        }
    }

    /// The tool that an item calls; `None` if the item is not a call, or if no `tool_choice` can
    /// name its tool.
    pub fn from_call(item: &Item) -> Option<Self> {
        if item.head().is_client_search() {
            return Some(Self::BuiltIn("tool_search".to_owned()));
        }
        let text = |key| item.object().string(key).unwrap_or_default().into_owned();
        Some(match item.head().kind.tool()? {
            Tool::Function | Tool::Custom => Self::Named(text("name")),
            Tool::Mcp => Self::Mcp(text("server_label")),
            Tool::BuiltIn(name) => Self::BuiltIn(name.to_owned()),
        })
    }
}

/// Writes the name, the server's label, or the type.
impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Named(text) | Self::Mcp(text) | Self::BuiltIn(text)) = self;
        f.write_str(text)
    }
}
