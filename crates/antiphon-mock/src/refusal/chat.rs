//! The refusals of Chat Completions: OpenAI's texts, and `DeepSeek`'s for reasoning.

use super::Refusal;
use crate::Api;

/// Parameters.
impl Refusal {
    /// The same refusal from Chat Completions.
    #[must_use]
    pub fn for_chat(self) -> Self {
        Self { api: Api::Chat, ..self }
    }

    fn chat(param: &str, code: Option<&'static str>, message: String) -> Self {
        Self::bad_request(Some(param), code, message).for_chat()
    }

    pub(crate) fn no_model() -> Self {
        Self::bad_request(None, None, "you must provide a model parameter".to_owned()).for_chat()
    }

    pub(crate) fn unknown_parameter(param: &str) -> Self {
        let message = format!("Unknown parameter: '{param}'.");
        Self::chat(param, Some("unknown_parameter"), message)
    }

    pub(crate) fn unsupported_parameter(param: &str, instead: &str) -> Self {
        let message = format!(
            "Unsupported parameter: '{param}' is not supported with this model. Use '{instead}' \
            instead."
        );
        Self::chat(param, Some("unsupported_parameter"), message)
    }

    /// `supported` lists the accepted values.
    pub(crate) fn unsupported_value(param: &str, value: &str, supported: &[&str]) -> Self {
        let message =
            format!("Invalid value: '{value}'. Supported values are: {}.", listed(supported));
        Self::chat(param, Some("invalid_value"), message)
    }

    pub(crate) fn empty_array(param: &str) -> Self {
        let message = format!(
            "Invalid '{param}': empty array. Expected an array with minimum length 1, but got an \
            empty array instead."
        );
        Self::chat(param, Some("empty_array"), message)
    }

    pub(crate) fn wrong_pattern(param: &str, pattern: &str) -> Self {
        let message = format!(
            "Invalid '{param}': string does not match pattern. Expected a string that matches the \
            pattern '{pattern}'."
        );
        Self::chat(param, Some("invalid_value"), message)
    }

    /// A parameter that requires `tools`.
    pub(crate) fn only_with_tools(param: &str) -> Self {
        let message = format!(
            "Invalid value for '{param}': '{param}' is only allowed when 'tools' are specified."
        );
        Self::chat(param, None, message)
    }

    /// A parameter that requires `other` to be true.
    pub(crate) fn only_when_enabled(param: &str, other: &str) -> Self {
        let message = format!("The '{param}' parameter is only allowed when '{other}' is enabled.");
        Self::chat(param, None, message)
    }

    pub(crate) fn chosen_tool_not_found(name: &str) -> Self {
        let message = format!("Tool choice '{name}' not found in 'tools' parameter.");
        Self::chat("tool_choice", None, message)
    }
}

/// Messages, by their position.
impl Refusal {
    pub(crate) fn no_content(message: usize) -> Self {
        let text = "Invalid value for 'content': expected a string, got null.";
        Self::chat(&format!("messages.[{message}].content"), None, text.to_owned())
    }

    pub(crate) fn image_not_from_user(message: usize, role: &str) -> Self {
        let param = format!("messages[{message}]");
        let text = format!(
            "Invalid '{param}'. Image URLs are only allowed for messages with role 'user', but \
            this message with role '{role}' contains an image URL."
        );
        Self::chat(&param, Some("invalid_value"), text)
    }

    /// `noticed` is the message in the place of the missing answers.
    pub(crate) fn tool_calls_unanswered(noticed: usize, ids: &[&str]) -> Self {
        let text = format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding \
            to each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
            ids.join(", ")
        );
        Self::chat(&format!("messages.[{noticed}].role"), None, text)
    }

    pub(crate) fn tool_message_without_calls(message: usize) -> Self {
        // The misspelling is the provider's.
        let text = "Invalid parameter: messages with role 'tool' must be a response to a \
            preceeding message with 'tool_calls'.";
        Self::chat(&format!("messages.[{message}].role"), None, text.to_owned())
    }

    pub(crate) fn tool_message_of_no_call(message: usize, id: &str) -> Self {
        let text = format!(
            "Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous \
            message."
        );
        Self::chat(&format!("messages.[{message}].tool_call_id"), None, text)
    }

    pub(crate) fn tool_message_twice(id: &str, first: usize, second: usize) -> Self {
        let text = format!(
            "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', in \
            messages[{first}] and messages[{second}]."
        );
        Self::chat(&format!("messages.[{second}].tool_call_id"), None, text)
    }

    pub(crate) fn tool_call_twice(message: usize, id: &str) -> Self {
        let text = format!(
            "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', in 'tool_calls' of \
            messages[{message}]."
        );
        Self::chat(&format!("messages.[{message}].tool_calls"), None, text)
    }

    /// `DeepSeek`'s text.
    pub(crate) fn reasoning_content_not_passed_back() -> Self {
        let text = "The `reasoning_content` in the thinking mode must be passed back to the API.";
        Self::bad_request(None, Some("invalid_request_error"), text.to_owned()).for_chat()
    }
}

/// `'a'`, `'a' and 'b'`, `'a', 'b', and 'c'`.
fn listed(values: &[&str]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| format!("'{value}'")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [most @ .., last] => format!("{}, and {last}", most.join(", ")),
    }
}
