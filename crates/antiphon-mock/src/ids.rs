//! Ids that the provider issues.

use crate::digest;

/// The number of hexadecimal digits after an id's prefix.
pub(crate) const DIGITS: usize = 50;

/// A source of unique ids. Equal seeds give equal sequences.
#[derive(Debug)]
pub(crate) struct Ids {
    seed: String,
    issued: u64,
}

impl Ids {
    pub(crate) fn new(seed: impl Into<String>) -> Self {
        Self { seed: seed.into(), issued: 0 }
    }

    /// The next id with this prefix: `msg_` and 50 digits, for example.
    pub(crate) fn next(&mut self, prefix: &str) -> String {
        format!("{prefix}_{}", self.next_digits())
    }

    /// The next id for an item of this type.
    pub(crate) fn next_item_id(&mut self, kind: &str) -> String {
        self.next(prefix_of(kind))
    }

    /// The digits of the next id.
    pub(crate) fn next_digits(&mut self) -> String {
        self.issued += 1;
        digest::digits(&["provider", &self.seed, &self.issued.to_string()], DIGITS)
    }
}

fn prefix_of(kind: &str) -> &'static str {
    match kind {
        "message" => "msg",
        "reasoning" => "rs",
        "function_call" => "fc",
        "function_call_output" => "fco",
        "custom_tool_call" => "ctc",
        "custom_tool_call_output" => "ctco",
        "web_search_call" => "ws",
        "file_search_call" => "fs",
        "code_interpreter_call" => "ci",
        "image_generation_call" => "ig",
        "mcp_call" => "mcp",
        "mcp_list_tools" => "mcpl",
        "mcp_approval_request" => "mcpr",
        "computer_call" => "cu",
        "local_shell_call" => "lsh",
        "shell_call" => "sh",
        "apply_patch_call" => "apc",
        "compaction" => "cmp",
        _ => "item",
    }
}
