//! API errors in the provider's form.

use std::time::Duration;

use antiphon::faults::Refusal;
use antiphon::stream::Failure;
use antiphon_store::StoreError;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::error_body::ErrorBody;
use crate::refused::Refused;
use crate::retry_headers::retry_headers;

/// The `code` of a quota error.
pub(crate) const QUOTA_EXCEEDED: &str = "quota_exceeded";

/// An error for a caller.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ApiError {
    /// An error of the gateway, in the provider's form.
    Ours(OurError),
    /// An upstream's error, forwarded unchanged.
    Upstream(Box<Refused>),
}

/// The fields of an `error` object, and its status.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OurError {
    pub(crate) status: StatusCode,
    pub(crate) kind: &'static str,
    pub(crate) code: Option<&'static str>,
    pub(crate) param: Option<String>,
    pub(crate) message: String,
    /// The delay after which a retry may succeed.
    pub(crate) retry_after: Option<Duration>,
}

/// The maximum length in characters of a field's name that an error repeats.
const MAX_SHOWN: usize = 256;

impl ApiError {
    /// An invalid request.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::of(StatusCode::BAD_REQUEST, "invalid_request_error", message)
    }

    /// An object that does not exist for this caller.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::of(StatusCode::NOT_FOUND, "invalid_request_error", message)
    }

    /// A failure of the gateway or of a service that it uses.
    pub(crate) fn server(status: StatusCode, message: impl Into<String>) -> Self {
        Self::of(status, "server_error", message).code("server_error")
    }

    /// A rate limit. The type comes from the Open Responses specification and the code from OpenAI,
    /// whose own types vary (`requests`, `tokens`).
    pub(crate) fn too_many_requests(message: impl Into<String>) -> Self {
        Self::of(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message)
            .code("rate_limit_exceeded")
    }

    /// A storage quota is exceeded. A retry does not help, so the status must not be one that
    /// clients retry, as they do with 429 for OpenAI's `insufficient_quota`.
    pub(crate) fn quota_exceeded(message: impl Into<String>) -> Self {
        Self::of(StatusCode::FORBIDDEN, "invalid_request_error", message).code(QUOTA_EXCEEDED)
    }

    pub(crate) fn of(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        Self::Ours(OurError {
            status,
            kind,
            code: None,
            param: None,
            message: message.into(),
            retry_after: None,
        })
    }

    pub(crate) fn code(mut self, code: &'static str) -> Self {
        if let Self::Ours(error) = &mut self {
            error.code = Some(code);
        }
        self
    }

    pub(crate) fn param(mut self, param: impl Into<String>) -> Self {
        if let Self::Ours(error) = &mut self {
            error.param = Some(param.into());
        }
        self
    }

    /// Adds a sentence to the message.
    pub(crate) fn with_hint(mut self, hint: &str) -> Self {
        if let Self::Ours(error) = &mut self {
            error.message.push(' ');
            error.message.push_str(hint);
        }
        self
    }

    pub(crate) fn retry_after(mut self, wait: Duration) -> Self {
        if let Self::Ours(error) = &mut self {
            error.retry_after = Some(wait);
        }
        self
    }

    /// The shutdown ended this turn before it was complete. The finished items stay stored.
    pub(crate) fn stopped() -> Self {
        Self::server(
            StatusCode::SERVICE_UNAVAILABLE,
            "The gateway stopped before the answer was complete. What was finished is kept.",
        )
    }

    /// A new request during the shutdown.
    pub(crate) fn stopping() -> Self {
        Self::server(
            StatusCode::SERVICE_UNAVAILABLE,
            "The gateway is stopping. Nothing was changed. Please retry.",
        )
        .retry_after(Duration::from_secs(1))
    }

    /// The store failed, for example with a full disk or a lost connection.
    pub(crate) fn store_unavailable(message: impl Into<String>) -> Self {
        Self::server(StatusCode::SERVICE_UNAVAILABLE, message)
            .code("store_unavailable")
            .retry_after(Duration::from_secs(1))
    }

    pub(crate) fn conversation_not_found(id: &str) -> Self {
        Self::not_found(format!("Conversation with id '{id}' not found."))
    }

    /// The conversation was deleted during the turn.
    pub(crate) fn conversation_deleted() -> Self {
        Self::not_found("The conversation was deleted while this request was working on it.")
    }

    pub(crate) fn response_not_found(id: &str) -> Self {
        Self::not_found(format!("Response with id '{id}' not found."))
    }

    pub(crate) fn item_not_found(id: &str) -> Self {
        Self::not_found(format!("Item with id '{id}' not found."))
    }

    pub(crate) fn previous_response_not_found(id: &str) -> Self {
        Self::invalid(format!("Previous response with id '{id}' not found."))
            .code("previous_response_not_found")
            .param("previous_response_id")
    }

    /// A response with `store: true` cannot continue one that only its connection remembers.
    pub(crate) fn previous_response_not_stored(id: &str) -> Self {
        Self::invalid(format!(
            "Previous response with id '{id}' was not stored: only a response with store set to \
             false can go on from it."
        ))
        .code("previous_response_not_found")
        .param("previous_response_id")
    }

    pub(crate) fn conversation_locked() -> Self {
        Self::invalid(
            "Another process is currently operating on this conversation. Please retry in a few \
             seconds.",
        )
        .code("conversation_locked")
        .param("conversation")
    }

    pub(crate) fn model_not_found(model: &str) -> Self {
        Self::invalid(format!(
            "The requested model '{model}' does not exist: no upstream answers for it (--upstream)."
        ))
        .code("model_not_found")
        .param("model")
    }

    pub(crate) fn missing_parameter(name: &str) -> Self {
        Self::invalid(format!("Missing required parameter: '{name}'."))
            .code("missing_required_parameter")
            .param(name)
    }

    pub(crate) fn unknown_parameter(name: &str) -> Self {
        let shown: String = name.chars().take(MAX_SHOWN).collect();
        Self::invalid(format!("Unknown parameter: '{shown}'."))
            .code("unknown_parameter")
            .param(shown)
    }

    pub(crate) fn wrong_type(path: &str, expected: &str, got: &str) -> Self {
        Self::invalid(format!(
            "Invalid type for '{path}': expected {expected}, but got {got} instead."
        ))
        .code("invalid_type")
        .param(path)
    }

    /// A value that is not valid at `path`.
    pub(crate) fn invalid_value(path: &str, value: &str, supported: &[&str]) -> Self {
        Self::invalid(format!(
            "Invalid value: '{value}'. Supported values are: {}.",
            in_words(supported)
        ))
        .code("invalid_value")
        .param(path)
    }

    pub(crate) fn array_too_long(path: &str, maximum: usize, length: usize) -> Self {
        Self::invalid(format!(
            "Invalid '{path}': array too long. Expected an array with maximum length {maximum}, \
             but got an array with length {length} instead."
        ))
        .code("array_above_max_length")
        .param(path)
    }

    pub(crate) fn not_json() -> Self {
        Self::invalid(
            "We could not parse the JSON body of your request. (HINT: This likely means you \
             aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but \
             what was sent was not valid JSON. If you have trouble figuring out how to fix this, \
             please contact us through our help center at help.openai.com.)",
        )
    }

    /// A JSON body that is not an object but has the type `got`.
    pub(crate) fn no_object(got: &str) -> Self {
        Self::invalid(format!("Invalid JSON body: expected an object, but got {got} instead."))
            .code("invalid_type")
    }

    /// The error text.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Ours(error) => &error.message,
            Self::Upstream(_) => "the upstream refused the request",
        }
    }

    /// Converts the error to the failure of a response that has already started.
    pub(crate) fn as_failure(&self) -> Failure {
        match self {
            Self::Ours(error) => Failure {
                code: error.code.unwrap_or(error.kind).into(),
                message: error.message.clone(),
            },
            Self::Upstream(refused) => refused.as_failure(),
        }
    }

    /// The HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Ours(error) => error.status,
            Self::Upstream(refused) => refused.status,
        }
    }
}

impl ApiError {
    /// The headers of the error answer.
    pub(crate) fn headers(&self) -> HeaderMap {
        match self {
            Self::Ours(error) => error.retry_after.into_iter().flat_map(retry_headers).collect(),
            Self::Upstream(refused) => refused.headers.clone(),
        }
    }
}

impl OurError {
    /// The body, in the form that all clients read.
    pub(crate) fn body(&self) -> ErrorBody<'_> {
        let (message, param) = (self.message.as_str(), self.param.as_deref());
        ErrorBody { message, kind: self.kind, param, code: self.code }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        match self {
            Self::Ours(error) => error.into_response(),
            Self::Upstream(refused) => {
                (refused.status, refused.headers, refused.body).into_response()
            }
        }
    }
}

/// Formats a list: `'a' and 'b'`, `'a', 'b', and 'c'`.
fn in_words(values: &[&str]) -> String {
    match values {
        [] => String::new(),
        [one] => format!("'{one}'"),
        [one, two] => format!("'{one}' and '{two}'"),
        [most @ .., last] => format!("'{}', and '{last}'", most.join("', '")),
    }
}

impl IntoResponse for OurError {
    fn into_response(self) -> Response {
        let json = HeaderValue::from_static("application/json");
        let mut response =
            (self.status, [(header::CONTENT_TYPE, json)], self.body().to_json()).into_response();
        response.headers_mut().extend(self.retry_after.into_iter().flat_map(retry_headers));
        response
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::Ours(OurError {
            status: StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST),
            kind: "invalid_request_error",
            code: refusal.code,
            param: refusal.param,
            message: refusal.message,
            retry_after: None,
        })
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::DuplicateItem(id) => {
                antiphon::faults::Fault::DuplicateItem { id }.refusal(0).into()
            }
            StoreError::ConversationNotFound => Self::conversation_deleted(),
            StoreError::CursorNotFound(id) => Self::item_not_found(&id).param("after"),
            StoreError::LeaseLost => Self::server(
                StatusCode::SERVICE_UNAVAILABLE,
                "Another replica took this turn over, because this one was not heard of for too \
                 long. Please retry.",
            ),
            StoreError::Erased => Self::server(
                StatusCode::SERVICE_UNAVAILABLE,
                "All data of this account was erased while this request was working on it.",
            ),
            StoreError::Unavailable(reason) | StoreError::NoSpace(reason) => {
                tracing::error!(%reason, "the store failed");
                Self::store_unavailable(
                    "The store of conversations is unavailable. Nothing was changed. Please retry.",
                )
            }
        }
    }
}
