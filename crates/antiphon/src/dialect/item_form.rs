//! The form in which the other APIs carry an item, by its kind.

use std::collections::HashSet;

use crate::item::Kind;
use crate::json::Object;

/// The form in which Chat Completions and Anthropic Messages carry an item.
///
/// The match over the kinds has no default arm, so that a new kind needs a decision here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemForm {
    /// A message.
    Message,
    /// Reasoning, for the server that generated it.
    Reasoning,
    /// A call of a tool, with JSON as its arguments.
    FunctionCall,
    /// A call of a tool, with a text as its input.
    CustomCall,
    /// The output of such a call.
    Output,
    /// No form. The conversation keeps its meaning without the item: it records the work of a
    /// provider's tool, and the model used the result in its text.
    ProviderRecord,
    /// An extension (`slug:type`): a record of the provider that the slug names.
    Extension,
    /// No form. The conversation would lose its meaning without the item: the item requires a
    /// response, is a response, or refers to the state of a server. An unknown kind can have any
    /// meaning.
    Unsupported,
}

impl ItemForm {
    /// The form of an item, by its `type`.
    pub(super) fn from_object(item: &Object<'_>) -> Self {
        Self::from_kind(&Kind::parse(&item.string("type").unwrap_or_default()))
    }

    /// The form of a kind.
    pub(super) fn from_kind(kind: &Kind) -> Self {
        use Kind as K;
        match kind {
            K::Message => Self::Message,
            K::Reasoning => Self::Reasoning,
            K::FunctionCall => Self::FunctionCall,
            K::CustomToolCall => Self::CustomCall,
            K::FunctionCallOutput | K::CustomToolCallOutput => Self::Output,
            K::WebSearchCall
            | K::FileSearchCall
            | K::CodeInterpreterCall
            | K::ImageGenerationCall
            | K::McpListTools
            | K::McpCall
            | K::ToolSearchCall
            | K::ToolSearchOutput => Self::ProviderRecord,
            K::Other(name) if name.contains(':') => Self::Extension,
            K::ShellCall
            | K::ShellCallOutput
            | K::LocalShellCall
            | K::LocalShellCallOutput
            | K::ApplyPatchCall
            | K::ApplyPatchCallOutput
            | K::ComputerCall
            | K::ComputerCallOutput
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
            | K::Other(_) => Self::Unsupported,
        }
    }
}

/// Whether the items contain a call without its output.
pub(super) fn has_pending_call(items: &[Object<'_>]) -> bool {
    let (mut calls, mut outputs) = (Vec::new(), HashSet::new());
    for item in items {
        match ItemForm::from_object(item) {
            ItemForm::FunctionCall | ItemForm::CustomCall => calls.push(item.get("call_id")),
            ItemForm::Output => {
                outputs.insert(item.get("call_id"));
            }
            ItemForm::Message
            | ItemForm::Reasoning
            | ItemForm::ProviderRecord
            | ItemForm::Extension
            | ItemForm::Unsupported => {}
        }
    }
    calls.iter().any(|call_id| !outputs.contains(call_id))
}
