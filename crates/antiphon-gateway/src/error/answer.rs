//! The answer of each error: the one place with statuses, types, codes and parameters.

use std::time::Duration;

use antiphon::stream::Failure;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::{ApiError, NumberSort, QuotaHolder};
use crate::error::ErrorBody;
use crate::fault_pages;
use crate::retry::retry_headers;

/// The `code` of a quota error.
pub(crate) const QUOTA_EXCEEDED: &str = "quota_exceeded";
/// The error code of a turn that another request ended.
pub(crate) const TURN_ENDED: &str = "turn_ended";

const BAD: StatusCode = StatusCode::BAD_REQUEST;
const UNAUTHORIZED: StatusCode = StatusCode::UNAUTHORIZED;
const FORBIDDEN: StatusCode = StatusCode::FORBIDDEN;
const MISSING: StatusCode = StatusCode::NOT_FOUND;
const MEDIA_TYPE: StatusCode = StatusCode::UNSUPPORTED_MEDIA_TYPE;
const BUSY: StatusCode = StatusCode::TOO_MANY_REQUESTS;
const BUG: StatusCode = StatusCode::INTERNAL_SERVER_ERROR;
const GATEWAY: StatusCode = StatusCode::BAD_GATEWAY;
const UNAVAILABLE: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

/// The delay before a retry, for errors whose end nobody can predict. Clients increase it.
const SOON: Duration = Duration::from_secs(1);

/// The status, the `code` and the `param` of an error.
type Row<'a> = (StatusCode, &'static str, &'a str);

impl ApiError {
    /// The table of all errors. An empty `code` or `param` is absent.
    #[expect(
        clippy::too_many_lines,
        clippy::match_same_arms,
        reason = "a table in the order of the variants"
    )]
    fn row(&self) -> Row<'_> {
        match self {
            Self::NotJson | Self::UnreadableQuery | Self::BodyBrokeOff => (BAD, "", ""),
            Self::NotAnObject { .. } => (BAD, "invalid_type", ""),
            Self::TooDeep { .. } => (BAD, "json_above_max_depth", ""),
            Self::MissingParameter { name } => (BAD, "missing_required_parameter", name),
            Self::UnknownParameter { name } => (BAD, "unknown_parameter", name),
            Self::WrongType { path, .. } => (BAD, "invalid_type", path),
            Self::InvalidValue { path, .. }
            | Self::InvalidUrl { path }
            | Self::InvalidName { path }
            | Self::UnknownUpstream { path, .. }
            | Self::CompactionTriggerNotLast { path }
            | Self::CompactionTriggerInConversation { path } => (BAD, "invalid_value", path),
            Self::RepeatedKey { key } | Self::MisspelledKey { key, .. } => {
                (BAD, "invalid_value", key)
            }
            Self::InvalidRequest(error) => (BAD, error.kind.code(), &error.path),
            Self::StateElsewhere { path, .. } => (BAD, "invalid_value", path),
            Self::BackgroundWithoutStore => (BAD, "invalid_value", "background"),
            Self::StringTooLong { path, .. } | Self::ItemTooLong { path, .. } => {
                (BAD, "string_above_max_length", path)
            }
            Self::ArrayTooLong { path, .. } => (BAD, "array_above_max_length", path),
            Self::TooMuchMetadata { .. } => (BAD, "object_above_max_properties", "metadata"),
            Self::NumberBelowMinimum { path, sort, .. } => (BAD, below(*sort), path),
            Self::NumberAboveMaximum { path, sort, .. } => (BAD, above(*sort), path),
            Self::MutuallyExclusive { path, .. } => {
                (BAD, "mutually_exclusive_parameters", path.as_deref().unwrap_or_default())
            }
            Self::OtherConversation { path, .. } => (BAD, "mutually_exclusive_parameters", path),
            Self::HeaderTooLong { .. } | Self::InvalidTenant { .. } => (BAD, "", ""),

            Self::MissingInput => (BAD, "missing_required_parameter", ""),
            Self::MissingFile { path } => (BAD, "missing_required_parameter", path),
            Self::ToolChoiceWithoutTools | Self::ToolChoiceNotFound { .. } => {
                (BAD, "", "tool_choice")
            }
            Self::InvalidSchema { .. } => (BAD, "invalid_json_schema", "text.format.schema"),
            Self::UnreadableCompaction { path }
            | Self::ForeignCompaction { path, .. }
            | Self::CompactionOfOtherKey { path, .. } => (BAD, "invalid_encrypted_content", path),
            Self::UnsupportedByDialect { path, .. } => (BAD, "unsupported_parameter", path),
            Self::InputTooLong { code, .. } => (BAD, code, "input"),
            Self::RefusedItems(refusal) => (
                StatusCode::from_u16(refusal.status).unwrap_or(BAD),
                refusal.code.unwrap_or_default(),
                refusal.param.as_deref().unwrap_or_default(),
            ),
            Self::PreparationAtUpstream { .. } => (BAD, "", "generate"),

            Self::ModelNotFound { path, .. } => (BAD, "model_not_found", path),
            Self::ModelNotServed { .. }
            | Self::ModelNotListed { .. }
            | Self::ModelNotForwarded { .. }
            | Self::BuiltInModelNotForwarded { .. } => (MISSING, "model_not_found", "model"),

            Self::ConversationNotFound { .. }
            | Self::ConversationDeleted
            | Self::ResponseNotFound { .. }
            | Self::ItemNotFound { .. }
            | Self::OwnerNotConfigured { .. } => (MISSING, "", ""),
            Self::CursorNotFound { .. } => (MISSING, "", "after"),
            Self::ConversationLocked => (BAD, "conversation_locked", "conversation"),
            Self::PreviousResponseNotFound { .. } | Self::PreviousResponseNotStored { .. } => {
                (BAD, "previous_response_not_found", "previous_response_id")
            }
            Self::CannotCancelSynchronous | Self::RunsElsewhere => (BAD, "", ""),
            Self::TurnEnded => (BAD, TURN_ENDED, ""),
            Self::NotStreamable | Self::StreamExpired | Self::StreamRequired => {
                (BAD, "unsupported_parameter", "stream")
            }
            Self::RequestInProgress => (StatusCode::CONFLICT, "request_in_progress", ""),

            Self::MissingKey | Self::IncorrectKey { .. } => (UNAUTHORIZED, "invalid_api_key", ""),
            Self::MissingTenant { .. } => (UNAUTHORIZED, "", ""),
            Self::UnknownHost { .. } => (FORBIDDEN, "unknown_host", ""),
            Self::ForeignOrigin { .. } => (FORBIDDEN, "foreign_origin", ""),

            Self::RateLimited { .. }
            | Self::TooManyTurns { .. }
            | Self::TooManyWaiting
            | Self::UpstreamBusy { .. } => (BUSY, "rate_limit_exceeded", ""),
            // A retry does not help, so the status must not be one that clients retry, as they do
            // with 429 for OpenAI's `insufficient_quota`.
            Self::QuotaExceeded { holder, .. } => (
                FORBIDDEN,
                QUOTA_EXCEEDED,
                match holder {
                    QuotaHolder::Tenant => "",
                    QuotaHolder::Conversation => "conversation",
                },
            ),

            Self::UnknownUrl { .. }
            | Self::FaultNotFound { .. }
            | Self::NoMetricsKey
            | Self::NoUpstreamForPath { .. }
            | Self::PassThroughDisabled { .. } => (MISSING, "", ""),
            Self::MethodNotAllowed { .. } => {
                (StatusCode::METHOD_NOT_ALLOWED, "method_not_supported", "")
            }
            Self::HeadersTooLarge { .. } => {
                (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "request_headers_too_large", "")
            }
            Self::BodyTooLarge { .. } | Self::MessageTooLarge { .. } => {
                (StatusCode::PAYLOAD_TOO_LARGE, "request_too_large", "")
            }
            Self::BodyTooSlow { .. } => (StatusCode::REQUEST_TIMEOUT, "request_timeout", ""),
            Self::UnsupportedContentType => (MEDIA_TYPE, "unsupported_content_type", ""),
            Self::UnsupportedEncoding => {
                (MEDIA_TYPE, "unsupported_content_encoding", "Content-Encoding")
            }
            Self::InvalidGzip => (BAD, "invalid_content_encoding", "Content-Encoding"),

            Self::WebSocketNotForwarded { .. } => (BAD, "", ""),
            Self::StatefulPathNotForwarded { .. } => (FORBIDDEN, "not_passed_through", ""),
            Self::StoreNotForwarded => (FORBIDDEN, "not_passed_through", "store"),

            Self::NotUpgradable { .. } | Self::BinaryMessage => (BAD, "", ""),
            Self::WrongWebSocketVersion { .. } => (StatusCode::UPGRADE_REQUIRED, "", ""),
            Self::BackgroundOverWebSocket => (BAD, "unsupported_parameter", "background"),
            Self::InvalidStreamId => (BAD, "invalid_stream_id", "stream_id"),
            Self::TooManyStreams { .. } => (BAD, "websocket_stream_limit_reached", "stream_id"),
            Self::ConnectionTooOld { .. } => (BAD, "websocket_connection_limit_reached", ""),

            Self::Upstream(rejection) => (rejection.status, "server_error", ""),
            Self::UpstreamFailed { .. } | Self::SummaryIncomplete => (GATEWAY, "server_error", ""),
            Self::UpstreamTimeout { .. } => (StatusCode::GATEWAY_TIMEOUT, "server_error", ""),
            Self::Stopping
            | Self::Stopped
            | Self::StoppedBeforeAnswer
            | Self::StillEnding
            | Self::TooManyConnections
            | Self::LeaseLost
            | Self::AccountErased => (UNAVAILABLE, "server_error", ""),
            Self::StoreUnavailable
            | Self::ConversationNotRecorded
            | Self::ConversationLeftAtUpstream { .. } => (UNAVAILABLE, "store_unavailable", ""),
            Self::Panicked | Self::TokensNotCounted | Self::UnreadableAnswer => {
                (BUG, "server_error", "")
            }

            Self::Translated { error, .. } => error.row(),
        }
    }

    /// The delay after which a retry may succeed.
    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { wait, .. } => Some(*wait),
            Self::TooManyTurns { .. }
            | Self::TooManyConnections
            | Self::UpstreamBusy { .. }
            | Self::Stopping
            | Self::StoreUnavailable
            | Self::ConversationNotRecorded
            | Self::ConversationLeftAtUpstream { .. } => Some(SOON),
            Self::Translated { error, .. } => error.retry_after(),
            _ => None,
        }
    }

    /// The `type`. The one of rate limits comes from the Open Responses specification; OpenAI's own
    /// types vary (`requests`, `tokens`).
    fn kind(&self) -> &'static str {
        match self {
            Self::TooManyWaiting => "rate_limit_error",
            Self::Upstream(_) => "server_error",
            _ if self.status() == BUSY => "too_many_requests",
            _ if self.status().is_server_error() => "server_error",
            _ => "invalid_request_error",
        }
    }

    /// The HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        self.row().0
    }

    /// The `code`, or the `type` of an error without a code.
    pub(crate) fn code(&self) -> &'static str {
        let (_, code, _) = self.row();
        if code.is_empty() { self.kind() } else { code }
    }

    /// The path of the parameter that the error is about.
    pub(crate) fn param(&self) -> Option<&str> {
        let (_, _, param) = self.row();
        (!param.is_empty()).then_some(param)
    }

    /// The headers of the answer. The error of a known fault has a link to its page.
    pub(crate) fn headers(&self) -> HeaderMap {
        let (mut headers, link): (HeaderMap, _) = match self {
            Self::Upstream(rejection) => {
                (rejection.headers.clone(), fault_pages::link_of_body(&rejection.body))
            }
            Self::RefusedItems(refusal) => {
                (HeaderMap::new(), fault_pages::link(Some(refusal.fault.name()), ""))
            }
            _ => (
                self.retry_after().into_iter().flat_map(retry_headers).collect(),
                fault_pages::link(Some(self.code()), &self.to_string()),
            ),
        };
        if let Some(link) = link {
            headers.append(header::LINK, link);
        }
        headers
    }

    /// The `error` object of the answer.
    pub(crate) fn to_object(&self) -> String {
        let (_, code, param) = self.row();
        let message = self.to_string();
        let (kind, param, code) = (self.kind(), Some(param), Some(code));
        ErrorBody { message: &message, kind, param, code }.to_object()
    }

    /// Converts the error to the failure of a response that has already started.
    pub(crate) fn as_failure(&self) -> Failure {
        match self {
            Self::Upstream(rejection) => rejection.as_failure(),
            _ => Failure { code: self.code().into(), message: self.to_string() },
        }
    }
}

fn below(sort: NumberSort) -> &'static str {
    match sort {
        NumberSort::Decimal => "decimal_below_min_value",
        NumberSort::Integer => "integer_below_min_value",
    }
}

fn above(sort: NumberSort) -> &'static str {
    match sort {
        NumberSort::Decimal => "decimal_above_max_value",
        NumberSort::Integer => "integer_above_max_value",
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let headers = self.headers();
        if let Self::Upstream(rejection) = self {
            return (rejection.status, headers, rejection.body).into_response();
        }
        let json = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        let body = format!(r#"{{"error":{}}}"#, self.to_object());
        (self.status(), json, headers, body).into_response()
    }
}
