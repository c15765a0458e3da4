//! The form of an item in a request, by its kind.

use crate::item::Kind;

/// The form in which Chat Completions carries an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemForm {
    /// A message.
    Message,
    /// Fields of the assistant's message, for the server that generated the reasoning.
    Reasoning,
    /// An entry in the `tool_calls` of the assistant's message.
    Call,
    /// A `tool` message.
    Output,
    /// The item is left out, and the conversation keeps its meaning: the item records the work of a
    /// provider's tool, and the model used the result in its text.
    Omitted,
    /// The request is rejected, because the conversation would lose its meaning without the item:
    /// the item requires a response, is a response, or refers to the state of a server.
    Refused,
}

impl ItemForm {
    /// The form of a kind. An extension (`slug:type`) is a provider's record. An unknown kind can
    /// have any meaning, and is rejected.
    pub(super) fn from_kind(kind: &Kind) -> Self {
        use Kind as K;
        match kind {
            K::Message => Self::Message,
            K::Reasoning => Self::Reasoning,
            K::FunctionCall | K::CustomToolCall => Self::Call,
            K::FunctionCallOutput | K::CustomToolCallOutput => Self::Output,
            K::WebSearchCall
            | K::FileSearchCall
            | K::CodeInterpreterCall
            | K::ImageGenerationCall
            | K::McpListTools
            | K::McpCall => Self::Omitted,
            K::Other(name) if name.contains(':') => Self::Omitted,
            K::ShellCall
            | K::ShellCallOutput
            | K::LocalShellCall
            | K::LocalShellCallOutput
            | K::ApplyPatchCall
            | K::ApplyPatchCallOutput
            | K::ComputerCall
            | K::ComputerCallOutput
            | K::ToolSearchCall
            | K::ToolSearchOutput
            | K::Program
            | K::ProgramOutput
            | K::MultiAgentCall
            | K::MultiAgentCallOutput
            | K::McpApprovalRequest
            | K::McpApprovalResponse
            | K::Compaction
            | K::CompactionTrigger
            | K::AdditionalTools
            | K::AgentMessage
            | K::ConfigurationUpdate
            | K::ItemReference
            | K::Other(_) => Self::Refused,
        }
    }
}
