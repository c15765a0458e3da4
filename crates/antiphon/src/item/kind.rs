//! What an item is, by its `type`.

use std::fmt;
use std::sync::Arc;

macro_rules! kinds {
    ($($name:ident = $text:literal, $prefix:literal;)*) => {
        /// The `type` of an item. Kinds that are not known are carried, not refused.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Kind {
            $(#[doc = concat!("`", $text, "`")] $name,)*
            /// Any other `type`, as it came: a provider's newer kind or an extension (`slug:type`).
            Other(Arc<str>),
        }

        impl Kind {
            /// The kind that an item's `type` names.
            pub fn parse(text: &str) -> Self {
                match text {
                    $($text => Self::$name,)*
                    other => Self::Other(other.into()),
                }
            }

            /// The `type` as it stands on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => $text,)*
                    Self::Other(text) => text,
                }
            }

            /// How the ids of this kind begin, without the underscore. For kinds whose prefix
            /// nobody documents it is one of ours.
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
            /// The kind of output that answers a call of this kind; `None` where its caller answers
            /// nothing.
            pub fn output(&self) -> Option<Kind> {
                match self {
                    $(Self::$call => Some(Self::$output),)*
                    _ => None,
                }
            }

            /// The kind of call that an output of this kind answers.
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

// Calls that their caller has to answer, each with the kind of its answer.
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
    /// Whether a provider refuses a call of this kind that nobody answered. An approval may stay
    /// open; a call has to be answered.
    pub fn must_be_answered(&self) -> bool {
        *self != Kind::McpApprovalRequest && self.output().is_some()
    }

    /// Whether a model made it, rather than its caller. Messages depend on their role besides.
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
    fn every_pair_is_found_from_both_sides() {
        for (call, output) in PAIRS {
            assert_eq!(call.output().as_ref(), Some(output));
            assert_eq!(output.call().as_ref(), Some(call));
        }
    }

    #[test]
    fn a_kind_nobody_knows_keeps_its_name() {
        assert_eq!(Kind::parse("acme:telemetry").as_str(), "acme:telemetry");
        assert_eq!(Kind::parse("function_call"), Kind::FunctionCall);
    }
}
