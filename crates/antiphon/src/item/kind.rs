//! The kinds of items, by their `type`: one table with all facts about them.

use std::fmt;
use std::sync::Arc;

use super::facts::{
    AtServer, CLIENT, CallIdField, CallIdNeed, Facts, IdNeed, ItemEvents, MODEL, OUTPUT,
    StatusField, TextField, Tool, UNKNOWN, call, hosted,
};

macro_rules! kinds {
    ($($name:ident = $text:literal, $prefix:literal $(=> $output:ident)?, $facts:expr;)*) => {
        /// The `type` of an item. Items of unknown kinds are passed on unchanged.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Kind {
            $(#[doc = concat!("`", $text, "`")] $name,)*
            /// Any other `type`: a newer kind of a provider or an extension (`slug:type`).
            Other(Arc<str>),
        }

        impl Kind {
            /// Every known kind.
            pub const ALL: &[Kind] = &[$(Self::$name),*];

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

            /// The kind of output that answers a call of this kind; `None` for items that the
            /// client does not answer.
            pub fn output(&self) -> Option<Kind> {
                match self {
                    $($(Self::$name => Some(Self::$output),)?)*
                    _ => None,
                }
            }

            /// The kind of call that an output of this kind answers; `None` for other items.
            pub fn call(&self) -> Option<Kind> {
                match self {
                    $($(Self::$output => Some(Self::$name),)?)*
                    _ => None,
                }
            }

            fn facts(&self) -> &'static Facts {
                match self {
                    $(Self::$name => const { &$facts },)*
                    Self::Other(_) => &UNKNOWN,
                }
            }
        }
    };
}

// Each row: kind = type, prefix of ids (=> kind of the output that answers it), facts.
//
// Source: the item tables of the Responses API, and the provider's error texts. In a placeholder,
// `{text}` stands for the quoted text and `{outcome}` for the end of a shell command.
kinds! {
    Message = "message", "msg", Facts {
        required_prefix: Some("msg"),
        status: StatusField::Required,
        text: Some(TextField::Parts("content")),
        events: ItemEvents::Parts,
        ..CLIENT // The role decides.
    };
    Reasoning = "reasoning", "rs", Facts {
        required_prefix: Some("rs"),
        id_need: IdNeed::WithoutContent,
        status: StatusField::Rejected,
        events: ItemEvents::Parts,
        ..MODEL
    };

    FunctionCall = "function_call", "fc" => FunctionCallOutput, Facts {
        required_prefix: Some("fc"),
        ..call(Tool::Function)
    };
    FunctionCallOutput = "function_call_output", "fco", Facts {
        required_prefix: Some("fc"),
        call_id_need: CallIdNeed::WithoutName,
        text: Some(TextField::Parts("output")),
        placeholder: Some(r#""output":{text}"#),
        ..OUTPUT
    };
    CustomToolCall = "custom_tool_call", "ctc" => CustomToolCallOutput, Facts {
        required_prefix: Some("ctc"),
        ..call(Tool::Custom)
    };
    CustomToolCallOutput = "custom_tool_call_output", "ctco", Facts {
        required_prefix: Some("ctco"),
        text: Some(TextField::Parts("output")),
        placeholder: Some(r#""output":{text}"#),
        ..OUTPUT
    };
    ShellCall = "shell_call", "sh" => ShellCallOutput, call(Tool::BuiltIn("shell"));
    ShellCallOutput = "shell_call_output", "sho", Facts {
        placeholder: Some(r#""output":[{"stdout":"","stderr":{text},"outcome":{outcome}}]"#),
        ..OUTPUT
    };
    LocalShellCall = "local_shell_call", "lsh" => LocalShellCallOutput, Facts {
        id_need: IdNeed::Required,
        ..call(Tool::BuiltIn("local_shell"))
    };
    LocalShellCallOutput = "local_shell_call_output", "lsho", Facts {
        call_id: CallIdField::CallIdOrId,
        at_server: AtServer::OnceRead,
        text: Some(TextField::Plain("output")),
        placeholder: Some(r#""output":{text},"status":"incomplete""#),
        ..OUTPUT
    };
    ApplyPatchCall = "apply_patch_call", "apc" => ApplyPatchCallOutput,
        call(Tool::BuiltIn("apply_patch"));
    ApplyPatchCallOutput = "apply_patch_call_output", "apco", Facts {
        placeholder: Some(r#""status":"failed","output":{text}"#),
        ..OUTPUT
    };
    ComputerCall = "computer_call", "cu" => ComputerCallOutput, Facts {
        id_need: IdNeed::Required,
        ..call(Tool::BuiltIn("computer"))
    };
    // A screenshot, so there is no placeholder.
    ComputerCallOutput = "computer_call_output", "cuo", OUTPUT;
    ToolSearchCall = "tool_search_call", "tsc" => ToolSearchOutput, Facts {
        status: StatusField::Required,
        call_id_need: CallIdNeed::Optional,
        ..MODEL
    };
    ToolSearchOutput = "tool_search_output", "tso", Facts {
        at_server: AtServer::WithoutCallId,
        call_id_need: CallIdNeed::Optional,
        placeholder: Some(r#""tools":[],"status":"incomplete""#),
        adds_tools: true,
        ..OUTPUT
    };
    Program = "program", "prog" => ProgramOutput, Facts {
        id_need: IdNeed::Required,
        status: StatusField::Rejected,
        ..MODEL
    };
    // The server runs programs and agents itself, so there is no placeholder.
    ProgramOutput = "program_output", "progo", Facts {
        id_need: IdNeed::Required,
        at_server: AtServer::Always,
        ..OUTPUT
    };
    MultiAgentCall = "multi_agent_call", "mac" => MultiAgentCallOutput, MODEL;
    MultiAgentCallOutput = "multi_agent_call_output", "maco", Facts {
        at_server: AtServer::Always,
        ..OUTPUT
    };
    McpApprovalRequest = "mcp_approval_request", "mcpr" => McpApprovalResponse, Facts {
        status: StatusField::Rejected,
        call_id: CallIdField::Id,
        may_stay_open: true,
        ..call(Tool::Mcp)
    };
    McpApprovalResponse = "mcp_approval_response", "mcpa", Facts {
        status: StatusField::Rejected,
        call_id: CallIdField::ApprovalRequestId,
        at_server: AtServer::OnceRead,
        ..OUTPUT
    };

    McpListTools = "mcp_list_tools", "mcpl", Facts {
        id_need: IdNeed::Required,
        status: StatusField::Rejected,
        ..MODEL
    };
    McpCall = "mcp_call", "mcp", Facts {
        id_need: IdNeed::Required,
        status: StatusField::Optional,
        ..call(Tool::Mcp)
    };
    WebSearchCall = "web_search_call", "ws", Facts {
        required_prefix: Some("ws"),
        ..hosted("web_search")
    };
    FileSearchCall = "file_search_call", "fs", hosted("file_search");
    CodeInterpreterCall = "code_interpreter_call", "ci", hosted("code_interpreter");
    ImageGenerationCall = "image_generation_call", "ig", hosted("image_generation");

    // A client may bring a compaction from `POST /responses/compact`.
    Compaction = "compaction", "cmp", Facts {
        status: StatusField::Rejected,
        at_server: AtServer::Unknown,
        ..MODEL
    };
    CompactionTrigger = "compaction_trigger", "cmpt", CLIENT;
    AdditionalTools = "additional_tools", "at", Facts {
        is_setting: true,
        adds_tools: true,
        ..CLIENT
    };
    AgentMessage = "agent_message", "am", Facts {
        at_server: AtServer::Unknown,
        events: ItemEvents::Unknown,
        ..MODEL
    };
    ConfigurationUpdate = "configuration_update", "cfg", Facts { is_setting: true, ..CLIENT };
    ItemReference = "item_reference", "ref", Facts { id_need: IdNeed::Required, ..CLIENT };
}

impl Kind {
    /// Whether a provider refuses an unanswered call of this kind. An approval request may stay
    /// open; a call has to be answered.
    pub fn must_be_answered(&self) -> bool {
        self.output().is_some() && !self.facts().may_stay_open
    }

    /// Whether a model produces items of this kind. For messages,
    /// [`Head::is_model_made`](super::Head::is_model_made) decides.
    pub fn is_model_made(&self) -> bool {
        self.facts().is_model_made
    }

    /// The tool that items of this kind call; `None` for other items, and for calls whose tool no
    /// `tool_choice` can name.
    pub fn tool(&self) -> Option<Tool> {
        self.facts().tool
    }

    /// Whether the item is a call that the provider answered itself, with the result in the same
    /// item.
    pub fn is_hosted_call(&self) -> bool {
        self.tool().is_some() && self.output().is_none()
    }

    /// Whether items of this kind have a `status`.
    pub fn status(&self) -> StatusField {
        self.facts().status
    }

    /// The field with all that an item of this kind says; `None` if there are several.
    pub fn text_field(&self) -> Option<TextField> {
        self.facts().text
    }

    /// Whether items of this kind configure all later turns.
    pub fn is_setting(&self) -> bool {
        self.facts().is_setting
    }

    /// Whether items of this kind add tools to those of the request.
    pub fn adds_tools(&self) -> bool {
        self.facts().adds_tools
    }

    /// The prefix that providers require of an id; `None` if they are not known to check it.
    pub(crate) fn required_prefix(&self) -> Option<&'static str> {
        self.facts().required_prefix
    }

    /// Whether the API requires an id for items of this kind.
    pub(crate) fn id_need(&self) -> IdNeed {
        self.facts().id_need
    }

    /// The field that contains the `call_id`.
    pub(crate) fn call_id_field(&self) -> CallIdField {
        self.facts().call_id
    }

    /// Whether a server that stores the conversation has an item of this kind.
    pub(crate) fn at_server(&self) -> AtServer {
        self.facts().at_server
    }

    /// Whether the API requires a `call_id` for items of this kind.
    pub(crate) fn call_id_need(&self) -> CallIdNeed {
        self.facts().call_id_need
    }

    /// The fields of an output that stands in for a missing one, with `{text}` and `{outcome}` for
    /// values; `None` if no output can.
    pub(crate) fn placeholder_fields(&self) -> Option<&'static str> {
        self.facts().placeholder
    }

    /// The events of such items in a stream.
    pub(crate) fn events(&self) -> ItemEvents {
        self.facts().events
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn call_and_output_kinds_map_to_each_other() {
        let pairs = Kind::ALL.iter().filter_map(|call| Some((call, call.output()?)));
        assert_eq!(pairs.clone().count(), 10);
        for (call, output) in pairs {
            assert_eq!(output.call().as_ref(), Some(call));
        }
    }

    #[test]
    fn names_and_prefixes_are_unique() {
        let distinct = |text: fn(&Kind) -> &str| Kind::ALL.iter().map(text).collect::<HashSet<_>>();
        assert_eq!(distinct(Kind::as_str).len(), Kind::ALL.len());
        assert_eq!(distinct(|kind| kind.id_prefix()).len(), Kind::ALL.len());
        for kind in Kind::ALL {
            assert_eq!(Kind::parse(kind.as_str()), *kind);
        }
    }

    #[test]
    fn facts_of_outputs_and_calls_are_consistent() {
        for kind in Kind::ALL {
            let is_output = kind.call().is_some();
            assert!(!is_output || !kind.is_model_made() && kind.tool().is_none(), "{kind}");
            assert!(is_output || kind.placeholder_fields().is_none(), "{kind}");
            assert!(kind.output().is_none() || kind.is_model_made(), "{kind}");
            assert!(kind.required_prefix().is_none_or(|it| kind.id_prefix().starts_with(it)));
        }
    }

    #[test]
    fn calls_are_always_at_the_server() {
        for kind in Kind::ALL {
            let is_call = kind.output().is_some() || kind.is_hosted_call();
            assert!(!is_call || kind.at_server() == AtServer::Always, "{kind}");
            let is_answer = kind.call().is_some();
            assert!(is_answer || kind.at_server() != AtServer::OnceRead, "{kind}");
        }
    }

    #[test]
    fn unknown_kind_keeps_its_name() {
        assert_eq!(Kind::parse("acme:telemetry").as_str(), "acme:telemetry");
        assert_eq!(Kind::parse("function_call"), Kind::FunctionCall);
    }
}
