//! The refusals of Anthropic's Messages API.

use std::fmt::Display;

use http::StatusCode;

use super::{INVALID_REQUEST, Refusal};
use crate::Api;

const THINKING_DOCUMENTATION: &str = "Please consult our documentation at \
    https://docs.claude.com/en/docs/build-with-claude/extended-thinking";

/// The request as a whole.
impl Refusal {
    fn anthropic(message: String) -> Self {
        Self {
            api: Api::Anthropic,
            status: StatusCode::BAD_REQUEST,
            kind: INVALID_REQUEST,
            param: None,
            code: None,
            message,
        }
    }

    /// A text about a path: `messages.1.content.0: …`.
    fn at(place: impl Display, sentence: &str) -> Self {
        Self::anthropic(format!("{place}: {sentence}"))
    }

    pub(crate) fn no_api_key() -> Self {
        let (status, kind) = (StatusCode::UNAUTHORIZED, "authentication_error");
        Self { status, kind, ..Self::anthropic("x-api-key header is required".to_owned()) }
    }

    pub(crate) fn no_version() -> Self {
        Self::at("anthropic-version", "header is required")
    }

    pub(crate) fn unknown_version(version: &str) -> Self {
        Self::at("anthropic-version", &format!("\"{version}\" is not a valid version"))
    }

    /// The body of a request of Anthropic Messages is not JSON.
    pub fn body_not_json() -> Self {
        Self::anthropic("The request body is not valid JSON".to_owned())
    }
}

/// The form of a field.
impl Refusal {
    pub(crate) fn field_required(place: impl Display) -> Self {
        Self::at(place, "Field required")
    }

    pub(crate) fn extra_input(place: impl Display) -> Self {
        Self::at(place, "Extra inputs are not permitted")
    }

    /// `what` completes the text `Input should be …`: `a valid string`.
    pub(crate) fn should_be(place: impl Display, what: &str) -> Self {
        Self::at(place, &format!("Input should be {what}"))
    }

    pub(crate) fn should_match(place: impl Display, pattern: &str) -> Self {
        Self::at(place, &format!("String should match pattern '{pattern}'"))
    }

    pub(crate) fn unknown_tag(place: impl Display, tag: &str, expected: &[&str]) -> Self {
        let expected: Vec<String> = expected.iter().map(|tag| format!("'{tag}'")).collect();
        let sentence = format!(
            "Input tag '{tag}' found using 'type' does not match any of the expected tags: {}",
            expected.join(", ")
        );
        Self::at(place, &sentence)
    }

    pub(crate) fn out_of_range(place: &str, range: &str) -> Self {
        Self::at(place, &format!("range: {range}"))
    }

    pub(crate) fn blank_stop_sequence() -> Self {
        Self::at("stop_sequences", "each stop sequence must contain non-whitespace")
    }

    pub(crate) fn two_samplings() -> Self {
        Self::anthropic(
            "`temperature` and `top_p` cannot both be specified for this model. Please use only \
            one."
                .to_owned(),
        )
    }
}

/// Tools.
impl Refusal {
    pub(crate) fn tool_names_not_unique() -> Self {
        Self::at("tools", "Tool names must be unique.")
    }

    pub(crate) fn tool_blocks_without_tools() -> Self {
        Self::anthropic(
            "Requests which include `tool_use` or `tool_result` blocks must define tools."
                .to_owned(),
        )
    }

    pub(crate) fn tool_choice_without_tools() -> Self {
        let sentence = "tool_choice may only be specified while providing tools.";
        Self::at("tool_choice", sentence)
    }

    pub(crate) fn chosen_tool_not_provided(name: &str) -> Self {
        Self::anthropic(format!("Tool '{name}' not found in provided tools"))
    }
}

/// Messages, by their position.
impl Refusal {
    pub(crate) fn no_messages() -> Self {
        Self::at("messages", "at least one message is required")
    }

    pub(crate) fn first_message_not_of_user() -> Self {
        Self::at("messages", "first message must use the \"user\" role")
    }

    pub(crate) fn system_is_no_role() -> Self {
        let sentence = "Unexpected role \"system\". The Messages API accepts a top-level `system` \
            parameter, not \"system\" as an input message role.";
        Self::at("messages", sentence)
    }

    pub(crate) fn unexpected_role(role: &str) -> Self {
        let sentence =
            format!("Unexpected role \"{role}\". Allowed roles are \"user\" or \"assistant\".");
        Self::at("messages", &sentence)
    }

    pub(crate) fn empty_message(message: usize) -> Self {
        let sentence = "all messages must have non-empty content except for the optional final \
            assistant message";
        Self::at(format!("messages.{message}"), sentence)
    }

    /// `of` is the field that contains the block: `messages`, `system`.
    pub(crate) fn empty_text(of: &str) -> Self {
        Self::at(of, "text content blocks must be non-empty")
    }

    pub(crate) fn blank_text(of: &str) -> Self {
        Self::at(of, "text content blocks must contain non-whitespace text")
    }

    pub(crate) fn trailing_whitespace() -> Self {
        Self::at("messages", "final assistant content cannot end with trailing whitespace")
    }

    /// `kind` is a block type that only `role` may send.
    pub(crate) fn block_of_other_role(message: usize, kind: &str, role: &str) -> Self {
        let sentence = format!("`{kind}` blocks can only be in `{role}` messages");
        Self::at(format!("messages.{message}"), &sentence)
    }

    pub(crate) fn tool_use_id_twice(place: impl Display) -> Self {
        Self::at(place, "`tool_use` ids must be unique")
    }

    pub(crate) fn tool_use_unanswered(message: usize, ids: &[&str]) -> Self {
        let sentence = format!(
            "`tool_use` ids were found without `tool_result` blocks immediately after: {}. Each \
            `tool_use` block must have a corresponding `tool_result` block in the next message.",
            ids.join(", ")
        );
        Self::at(format!("messages.{message}"), &sentence)
    }

    pub(crate) fn unexpected_tool_result(place: impl Display, id: &str) -> Self {
        let sentence = format!(
            "unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` \
            block must have a corresponding `tool_use` block in the previous message."
        );
        Self::at(place, &sentence)
    }

    pub(crate) fn tool_result_twice(place: impl Display, id: &str) -> Self {
        let sentence = format!(
            "each tool_use must have a single result. Found multiple `tool_result` blocks with \
            id: {id}"
        );
        Self::at(place, &sentence)
    }
}

/// Thinking.
impl Refusal {
    pub(crate) fn invalid_signature(place: impl Display) -> Self {
        Self::at(place, "Invalid `signature` in `thinking` block")
    }

    pub(crate) fn invalid_redacted_thinking(place: impl Display) -> Self {
        Self::at(place, "Invalid `data` in `redacted_thinking` block")
    }

    /// `found` is the type of the block in the place of thinking.
    pub(crate) fn turn_without_thinking(message: usize, found: &str) -> Self {
        // The misspelling is the provider's.
        let sentence = format!(
            "Expected `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is \
            enabled, a final `assistant` message must start with a thinking block (preceeding the \
            lastmost set of `tool_use` and `tool_result` blocks). We recommend you include \
            thinking blocks from previous turns. To avoid this requirement, disable `thinking`. \
            {THINKING_DOCUMENTATION}"
        );
        Self::at(format!("messages.{message}.content.0.type"), &sentence)
    }

    pub(crate) fn budget_over_max_tokens() -> Self {
        Self::anthropic(format!(
            "`max_tokens` must be greater than `thinking.budget_tokens`. {THINKING_DOCUMENTATION}\
            #max-tokens-and-context-window-size"
        ))
    }

    pub(crate) fn thinking_with_temperature() -> Self {
        Self::anthropic(format!(
            "`temperature` may only be set to 1 when thinking is enabled. {THINKING_DOCUMENTATION}\
            #important-considerations-when-using-extended-thinking"
        ))
    }

    pub(crate) fn thinking_with_top_k() -> Self {
        Self::anthropic(format!(
            "`top_k` must be unset when thinking is enabled. {THINKING_DOCUMENTATION}\
            #important-considerations-when-using-extended-thinking"
        ))
    }

    pub(crate) fn thinking_with_forced_tool() -> Self {
        Self::anthropic("Thinking may not be enabled when tool_choice forces tool use.".to_owned())
    }
}
