//! The kinds of items, by their `type`.

use std::fmt;
use std::sync::Arc;

macro_rules! kinds {
    ($($name:ident = $text:literal, $prefix:literal;)*) => {
        /// The `type` of an item. Items of unknown kinds are passed on unchanged.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Kind {
            $(#[doc = concat!("`", $text, "`")] $name,)*
            /// Any other `type`: a newer kind of a provider or an extension (`slug:type`).
            Other(Arc<str>),
        }

        impl Kind {
            /// Parses an item's `type`.
            pub fn parse(text: &str) -> Self {
                match text {
                    $($text => Self::$name,)*
                    other => Self::Other(other.into()),
                }
            }

            /// The `type` as text.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => $text,)*
                    Self::Other(text) => text,
                }
            }

            /// The prefix of ids of this kind, without the underscore. If no provider documents
            /// it, the prefix is one of ours.
            pub fn id_prefix(&self) -> &'static str {
                match self {
                    $(Self::$name => $prefix,)*
                    Self::Other(_) => "item",
                }
            }
        }
    };
}

kinds! {
    Message = "message", "msg";
    Reasoning = "reasoning", "rs";
    FunctionCall = "function_call", "fc";
    FunctionCallOutput = "function_call_output", "fco";
    CustomToolCall = "custom_tool_call", "ctc";
    CustomToolCallOutput = "custom_tool_call_output", "ctco";
    ShellCall = "shell_call", "sh";
    ShellCallOutput = "shell_call_output", "sho";
    LocalShellCall = "local_shell_call", "lsh";
    LocalShellCallOutput = "local_shell_call_output", "lsho";
    ApplyPatchCall = "apply_patch_call", "apc";
    ApplyPatchCallOutput = "apply_patch_call_output", "apco";
    ComputerCall = "computer_call", "cu";
    ComputerCallOutput = "computer_call_output", "cuo";
    ToolSearchCall = "tool_search_call", "tsc";
    ToolSearchOutput = "tool_search_output", "tso";
    Program = "program", "prog";
    ProgramOutput = "program_output", "progo";
    MultiAgentCall = "multi_agent_call", "mac";
    MultiAgentCallOutput = "multi_agent_call_output", "maco";
    McpApprovalRequest = "mcp_approval_request", "mcpr";
    McpApprovalResponse = "mcp_approval_response", "mcpa";
    McpListTools = "mcp_list_tools", "mcpl";
    McpCall = "mcp_call", "mcp";
    WebSearchCall = "web_search_call", "ws";
    FileSearchCall = "file_search_call", "fs";
    CodeInterpreterCall = "code_interpreter_call", "ci";
    ImageGenerationCall = "image_generation_call", "ig";
    Compaction = "compaction", "cmp";
    CompactionTrigger = "compaction_trigger", "cmpt";
    AdditionalTools = "additional_tools", "at";
    AgentMessage = "agent_message", "am";
    ConfigurationUpdate = "configuration_update", "cfg";
    ItemReference = "item_reference", "ref";
}

macro_rules! pairs {
    ($($call:ident => $output:ident;)*) => {
        impl Kind {
            /// The kind of output that answers a call of this kind; `None` for items that the
            /// client does not answer.
            pub fn output(&self) -> Option<Kind> {
                match self {
                    $(Self::$call => Some(Self::$output),)*
                    _ => None,
                }
            }

            /// The kind of call that an output of this kind answers; `None` for other items.
            pub fn call(&self) -> Option<Kind> {
                match self {
                    $(Self::$output => Some(Self::$call),)*
                    _ => None,
                }
            }
        }

        #[cfg(test)]
        const PAIRS: &[(Kind, Kind)] = &[$((Kind::$call, Kind::$output),)*];
    };
}

// Calls that the client has to answer, each with the kind of its output.
pairs! {
    FunctionCall => FunctionCallOutput;
    CustomToolCall => CustomToolCallOutput;
    ShellCall => ShellCallOutput;
    LocalShellCall => LocalShellCallOutput;
    ApplyPatchCall => ApplyPatchCallOutput;
    ComputerCall => ComputerCallOutput;
    ToolSearchCall => ToolSearchOutput;
    Program => ProgramOutput;
    MultiAgentCall => MultiAgentCallOutput;
    McpApprovalRequest => McpApprovalResponse;
}

impl Kind {
    /// Whether a provider refuses an unanswered call of this kind. An approval request may stay
    /// open; a call has to be answered.
    pub fn must_be_answered(&self) -> bool {
        *self != Kind::McpApprovalRequest && self.output().is_some()
    }

    /// Whether a model produces items of this kind. For messages,
    /// [`Head::is_model_made`](super::Head::is_model_made) decides.
    pub fn is_model_made(&self) -> bool {
        use Kind as K;
        !matches!(
            self,
            K::Message
                | K::CompactionTrigger
                | K::AdditionalTools
                | K::ConfigurationUpdate
                | K::ItemReference
                | K::Other(_)
        ) && self.call().is_none()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_and_output_kinds_map_to_each_other() {
        for (call, output) in PAIRS {
            assert_eq!(call.output().as_ref(), Some(output));
            assert_eq!(output.call().as_ref(), Some(call));
        }
    }

    #[test]
    fn unknown_kind_keeps_its_name() {
        assert_eq!(Kind::parse("acme:telemetry").as_str(), "acme:telemetry");
        assert_eq!(Kind::parse("function_call"), Kind::FunctionCall);
    }
}
