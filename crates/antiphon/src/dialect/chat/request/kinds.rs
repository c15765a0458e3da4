//! What becomes of an item, by its kind.

use crate::item::Kind;

/// How Chat Completions carries an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carriage {
    /// As a message.
    Message,
    /// As fields of the assistant's message, to its own maker.
    Reasoning,
    /// As one of the `tool_calls` of the assistant's message.
    Call,
    /// As a `tool` message.
    Output,
    /// Not at all, and the conversation means the same: it records what a provider did by itself,
    /// whose outcome the model told in its text.
    LeftOut,
    /// Not at all, and without it the conversation means something else: it asks for an answer, is
    /// one, or stands for what only a server's state explains.
    Refused,
}

impl Carriage {
    /// The rule for a kind. Extensions (`slug:type`) are a provider's records; a kind that nobody
    /// knows may be anything, and is refused.
    pub(super) fn of(kind: &Kind) -> Self {
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
            | K::McpCall => Self::LeftOut,
            K::Other(name) if name.contains(':') => Self::LeftOut,
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
