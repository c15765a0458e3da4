//! The refusals of a stateful provider, each with its own text.

use http::StatusCode;
use serde_json::Value;

use super::Refusal;

/// Keys.
impl Refusal {
    pub(crate) fn wrong_key(key: &str) -> Self {
        let last = key.char_indices().nth_back(3).map_or("", |(at, _)| &key[at..]);
        let message = format!(
            "Incorrect API key provided: sk-...{last}. You can find your API key at \
            https://platform.openai.com/account/api-keys."
        );
        Self::unauthorized(Some("invalid_api_key"), message)
    }

    pub(crate) fn no_key() -> Self {
        let message = "You didn't provide an API key. You need to provide your API key in an \
            Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).";
        Self::unauthorized(None, message.to_owned())
    }

    fn unauthorized(code: Option<&'static str>, message: String) -> Self {
        Self { status: StatusCode::UNAUTHORIZED, ..Self::bad_request(None, code, message) }
    }
}

/// Conversations, responses and items.
impl Refusal {
    pub(crate) fn previous_response_not_found(id: &str) -> Self {
        let message = format!("Previous response with id '{id}' not found.");
        let code = Some("previous_response_not_found");
        Self::bad_request(Some("previous_response_id"), code, message)
    }

    pub(crate) fn response_not_found(id: &str) -> Self {
        Self::not_found(format!("Response with id '{id}' not found."))
    }

    pub(crate) fn conversation_not_found(id: &str) -> Self {
        Self::not_found(format!("Conversation with id '{id}' not found."))
    }

    pub(crate) fn item_not_in_conversation(id: &str) -> Self {
        Self::not_found(format!("Item with id '{id}' not found."))
    }

    pub(crate) fn model_not_served(name: &str) -> Self {
        Self::not_found(format!("The model '{name}' does not exist"))
    }

    fn not_found(message: String) -> Self {
        Self { status: StatusCode::NOT_FOUND, ..Self::bad_request(None, None, message) }
    }

    pub(crate) fn conversation_locked() -> Self {
        let message = "Another process is currently operating on this conversation. Please \
            retry in a few seconds.";
        let code = Some("conversation_locked");
        Self::bad_request(Some("conversation"), code, message.to_owned())
    }

    pub(crate) fn cannot_cancel() -> Self {
        Self::bad_request(None, None, "Cannot cancel a synchronous response.".to_owned())
    }

    pub(crate) fn cannot_stream() -> Self {
        let message = "Only a response that was created in the background can be streamed again.";
        Self::bad_request(Some("stream"), None, message.to_owned())
    }
}

/// Parameters.
impl Refusal {
    pub(crate) fn mutually_exclusive() -> Self {
        let message = "Mutually exclusive parameters: ''. Ensure you are only providing one of: \
            'previous_response_id' or 'conversation'.";
        Self::bad_request(None, Some("mutually_exclusive_parameters"), message.to_owned())
    }

    pub(crate) fn unknown_model(name: &str) -> Self {
        let message = format!("The requested model '{name}' does not exist.");
        Self::bad_request(Some("model"), Some("model_not_found"), message)
    }

    pub(crate) fn unknown_field(name: &str) -> Self {
        let message = format!("Unknown parameter: '{name}'.");
        Self::bad_request(Some(name), Some("unknown_parameter"), message)
    }

    pub(crate) fn background_needs_store() -> Self {
        let message = "Background mode requires 'store' to be true.";
        Self::bad_request(Some("background"), None, message.to_owned())
    }

    pub(crate) fn invalid_value(param: &str, value: &str, supported: &str) -> Self {
        let message = format!("Invalid value: '{value}'. Supported values are: {supported}.");
        Self::bad_request(Some(param), Some("invalid_value"), message)
    }
}

/// Sizes.
impl Refusal {
    pub(crate) fn too_many_properties(param: &str, maximum: usize, count: usize) -> Self {
        let message = format!(
            "Invalid '{param}': too many properties. Expected an object with at most {maximum} \
            properties, but got an object with {count} properties instead."
        );
        Self::bad_request(Some(param), Some("object_above_max_properties"), message)
    }

    pub(crate) fn array_too_long(param: &str, maximum: usize, length: usize) -> Self {
        let message = format!(
            "Invalid '{param}': array too long. Expected an array with maximum length {maximum}, \
            but got an array with length {length} instead."
        );
        Self::bad_request(Some(param), Some("array_above_max_length"), message)
    }

    pub(crate) fn below_minimum(param: &str, minimum: i64, value: &Value) -> Self {
        let message = format!(
            "Invalid '{param}': integer below minimum value. Expected a value >= {minimum}, but \
            got {value} instead."
        );
        Self::bad_request(Some(param), Some("integer_below_min_value"), message)
    }

    pub(crate) fn above_maximum(param: &str, maximum: i64, value: &Value) -> Self {
        let message = format!(
            "Invalid '{param}': integer above maximum value. Expected a value <= {maximum}, but \
            got {value} instead."
        );
        Self::bad_request(Some(param), Some("integer_above_max_value"), message)
    }
}
