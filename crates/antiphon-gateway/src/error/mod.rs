//! The errors of the gateway, named by the violation.
//!
//! A variant carries the offending values, and its text is the `message` of the answer. The status,
//! the type, the code, the parameter and the headers of every variant are in one [table](answer).
//! Texts that the provider also sends are the provider's own.

mod answer;
mod body;
mod rejection;
mod text;

use std::time::Duration;

use antiphon::dialect::{ClientApi, InvalidRequest};
use antiphon::faults::{Fault, Refusal};
use antiphon::json::Object;
use antiphon_store::StoreError;
use http::Method;

pub(crate) use self::answer::{QUOTA_EXCEEDED, TURN_ENDED};
pub(crate) use self::body::{ErrorBody, with_strings};
pub(crate) use self::rejection::UpstreamRejection;
pub(crate) use self::text::{Hint, NumberSort, QuotaHolder};
use self::text::{Listed, Size};
use crate::retry::format_duration;

/// An error for a caller.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum ApiError {
    // ---- Fields of a body or of a query ----
    #[error(
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't \
         using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was \
         sent was not valid JSON. If you have trouble figuring out how to fix this, please contact \
         us through our help center at help.openai.com.)"
    )]
    NotJson,
    #[error("Invalid JSON body: expected an object, but got {got} instead.")]
    NotAnObject { got: &'static str },
    #[error(
        "Invalid JSON body: nested too deeply. Expected at most {maximum} levels of arrays and \
         objects."
    )]
    TooDeep { maximum: usize },
    /// A request of a client in another API than the Responses API.
    #[error("{}", .0.message)]
    InvalidRequest(#[from] InvalidRequest),
    #[error("The query cannot be read.")]
    UnreadableQuery,
    #[error("Missing required parameter: '{name}'.")]
    MissingParameter { name: String },
    #[error("Unknown parameter: '{name}'.")]
    UnknownParameter { name: String },
    #[error("Invalid type for '{path}': expected {expected}, but got {got} instead.")]
    WrongType { path: String, expected: &'static str, got: &'static str },
    #[error("Invalid value: '{value}'. Supported values are: {}.", Listed(supported))]
    InvalidValue { path: String, value: String, supported: &'static [&'static str] },
    #[error("Invalid '{path}'. Expected a valid URL, but got a value with an invalid format.")]
    InvalidUrl { path: String },
    #[error(
        "Invalid '{path}': string does not match pattern. Expected a string that matches the \
         pattern '^[a-zA-Z0-9_-]+$'."
    )]
    InvalidName { path: String },
    #[error(
        "Invalid '{path}': string too long. Expected a string with maximum length {maximum}, but \
         got a string with length {length} instead."
    )]
    StringTooLong { path: String, maximum: usize, length: usize },
    #[error(
        "Invalid '{path}': array too long. Expected an array with maximum length {maximum}, but \
         got an array with length {length} instead."
    )]
    ArrayTooLong { path: String, maximum: usize, length: usize },
    #[error(
        "Invalid '{path}': item too long. Expected an item with maximum length {maximum} bytes, \
         but got an item with length {length} bytes instead."
    )]
    ItemTooLong { path: String, maximum: usize, length: usize },
    #[error(
        "Invalid 'metadata': too many properties. Expected an object with at most {maximum} \
         properties, but got an object with {count} properties instead."
    )]
    TooMuchMetadata { maximum: usize, count: usize },
    #[error(
        "Invalid '{path}': {sort} below minimum value. Expected a value >= {minimum}, but got \
         {got} instead."
    )]
    NumberBelowMinimum { path: String, sort: NumberSort, minimum: i64, got: String },
    #[error(
        "Invalid '{path}': {sort} above maximum value. Expected a value <= {maximum}, but got \
         {got} instead."
    )]
    NumberAboveMaximum { path: String, sort: NumberSort, maximum: i64, got: String },
    #[error(
        "Mutually exclusive parameters: '{given}'. Ensure you are only providing one of: {choices}."
    )]
    MutuallyExclusive { path: Option<String>, given: String, choices: &'static str },
    #[error(
        "The header 'Antiphon-Conversation' names the conversation '{header}', but the body names \
         '{body}'. Send one of them, or the same id in both."
    )]
    OtherConversation { header: String, body: String, path: &'static str },
    #[error("The key '{key}' occurs twice.")]
    RepeatedKey { key: String },
    #[error("The key '{key}' is spelt '{expected}'.")]
    MisspelledKey { key: String, expected: &'static str },
    #[error("The header '{name}' is longer than {maximum} bytes.")]
    HeaderTooLong { name: &'static str, maximum: usize },

    // ---- Requests for a response ----
    #[error(
        "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be \
         provided."
    )]
    MissingInput,
    #[error("One of 'file_id' or 'file_url' or 'file_data' must be provided.")]
    MissingFile { path: String },
    #[error("Background responses require 'store' to be true.")]
    BackgroundWithoutStore,
    #[error("Tool choice 'required' must be specified with 'tools' parameter.")]
    ToolChoiceWithoutTools,
    #[error("Tool choice '{choice}' not found in 'tools' parameter.")]
    ToolChoiceNotFound { choice: String },
    #[error("Invalid schema for response_format '{name}': {reason}")]
    InvalidSchema { name: String, reason: String },
    #[error("Invalid '{path}': a compaction_trigger must be the final input item.")]
    CompactionTriggerNotLast { path: String },
    #[error(
        "Invalid '{path}': a compaction_trigger is not an item of a conversation. It is the \
         final input item of a request."
    )]
    CompactionTriggerInConversation { path: String },
    /// A sealed compaction that was modified, or that belongs to another tenant.
    #[error(
        "The encrypted content could not be verified: it was changed, or belongs to another caller."
    )]
    UnreadableCompaction { path: String },
    #[error(
        "The compaction item '{id}' was created by another model, and only that model can read \
         it. The items that it replaces are not stored here. Use that model, or leave the item \
         out."
    )]
    ForeignCompaction { path: String, id: String },
    /// A stored compaction that this gateway cannot read, as after an import.
    #[error(
        "The compaction item '{id}' cannot be read: the key of another store sealed it, or it was \
         changed. The items that it replaces are not stored here. Delete the item from its \
         conversation, or continue a response from before it."
    )]
    CompactionOfOtherKey { path: String, id: String },
    /// A dialect has no form for this part of the request; the message is the dialect's.
    #[error("{message}")]
    UnsupportedByDialect { path: String, message: String },
    /// The input is too long for the model; the message has the lengths.
    #[error("{message}")]
    InputTooLong { code: &'static str, message: String },
    /// A list of items that the provider would reject.
    #[error("{}", .0.message)]
    RefusedItems(Refusal),
    #[error(
        "The state that this request continues is stored by {owner}, which cannot prepare a turn. \
         Leave 'generate' out."
    )]
    PreparationAtUpstream { owner: String },

    // ---- Models and upstreams ----
    #[error("The requested model '{model}' does not exist: no upstream serves it (--upstream).")]
    ModelNotFound { path: &'static str, model: String },
    /// As [`ModelNotFound`](Self::ModelNotFound), in the APIs whose providers answer with a 404.
    #[error("The requested model '{model}' does not exist: no upstream serves it (--upstream).")]
    ModelNotServed { model: String },
    #[error("The model '{model}' does not exist")]
    ModelNotListed { model: String },
    #[error("The model '{model}' does not exist.")]
    ModelNotForwarded { model: String },
    #[error(
        "The model '{model}' is built in and is served only at /v1/responses: /v1{path} passes \
         to upstreams, which do not have it."
    )]
    BuiltInModelNotForwarded { model: String, path: String },
    #[error("There is no upstream named '{name}'. Name one that --upstream configures.")]
    UnknownUpstream { path: String, name: String },

    // ---- Stored objects ----
    #[error("Conversation with id '{id}' not found.{hint}")]
    ConversationNotFound { id: String, hint: Hint },
    #[error("The conversation was deleted while this request was working on it.")]
    ConversationDeleted,
    #[error("The turn was ended by another request.")]
    TurnEnded,
    #[error(
        "Another process is currently operating on this conversation. Please retry in a few \
         seconds."
    )]
    ConversationLocked,
    #[error("Response with id '{id}' not found.{hint}")]
    ResponseNotFound { id: String, hint: Hint },
    #[error("Previous response with id '{id}' not found.{hint}")]
    PreviousResponseNotFound { id: String, hint: Hint },
    /// A response with `store: true` cannot continue one that only its connection remembers.
    #[error(
        "Previous response with id '{id}' was not stored: only a response with store set to false \
         can continue it."
    )]
    PreviousResponseNotStored { id: String },
    #[error("Item with id '{id}' not found.")]
    ItemNotFound { id: String },
    /// The item at which a list should continue.
    #[error("Item with id '{id}' not found.")]
    CursorNotFound { id: String },
    #[error(
        "'{id}' is stored by an upstream that this gateway no longer has. Configure the upstream \
         again (--upstream)."
    )]
    OwnerNotConfigured { id: String },
    #[error(
        "The {object} '{id}' is stored by {owner}, but {server} serves the model of this request: \
         a turn must run where its state is. Use a model of that upstream, or create a \
         conversation for this model with metadata {{\"antiphon_model\": MODEL}}."
    )]
    StateElsewhere {
        path: &'static str,
        object: &'static str,
        id: String,
        owner: String,
        server: String,
    },
    #[error("Cannot cancel a synchronous response.")]
    CannotCancelSynchronous,
    #[error("Another process of the gateway runs this turn. Send the request to that process.")]
    RunsElsewhere,
    #[error("The response is cancelled and has not ended yet. It was not deleted. Please retry.")]
    StillEnding,
    #[error("Only background responses can be streamed again.")]
    NotStreamable,
    #[error("This response can no longer be streamed again.")]
    StreamExpired,
    #[error("This request is still being answered. Please retry in a few seconds.")]
    RequestInProgress,

    // ---- Callers ----
    #[error(
        "You didn't provide an API key. You need to provide your API key in an Authorization \
         header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
    )]
    MissingKey,
    /// `shown` is the start of the key, or nothing.
    #[error("Incorrect API key provided: {shown}....")]
    IncorrectKey { shown: String },
    #[error("The header '{header}', which names the caller, is missing.")]
    MissingTenant { header: String },
    #[error(
        "The header '{header}' must be present exactly once, with 1 to {maximum} visible ASCII \
         characters and no comma."
    )]
    InvalidTenant { header: String, maximum: usize },
    #[error(
        "The host '{host}' is not known: on a loopback address and without API keys, the gateway \
         answers to names of this machine only. Start it with --allow-host NAME to add a name."
    )]
    UnknownHost { host: String },
    #[error(
        "A web page of {page} may not use this gateway. Start it with --allow-origin ORIGIN to let \
         a page in. Other clients send neither 'Origin' nor 'Sec-Fetch-Site'."
    )]
    ForeignOrigin { page: String },

    // ---- Limits ----
    #[error(
        "Rate limit reached: at most {burst} requests may come at once. Please try again in {}.",
        format_duration(*wait)
    )]
    RateLimited { burst: u32, wait: Duration },
    #[error(
        "Too many open turns: at most {maximum} of one tenant may be open at once. Please try \
         again when one of them has ended."
    )]
    TooManyTurns { maximum: usize },
    #[error("Too many connections are open. Nothing was changed. Please retry.")]
    TooManyConnections,
    #[error(
        "Quota exceeded: this {holder} may have {maximum} {unit} stored ({}-{unit}). It has \
         {held}, and this request adds {added}. {}, or ask the operator of the gateway for a \
         higher quota.",
        holder.setting(),
        holder.remedy()
    )]
    QuotaExceeded { holder: QuotaHolder, unit: &'static str, maximum: u64, held: u64, added: u64 },

    // ---- HTTP ----
    #[error("Invalid URL ({method} {path})")]
    UnknownUrl { method: Method, path: String },
    #[error("Fault with name '{name}' not found.")]
    FaultNotFound { name: String },
    #[error(
        "The metrics are not served here. The operator enables them with --metrics-key, or on a \
         listener of their own with --metrics-listen."
    )]
    NoMetricsKey,
    #[error("Not allowed to {method} on {path}.")]
    MethodNotAllowed { method: Method, path: String },
    #[error("The request's headers are over {maximum} bytes.")]
    HeadersTooLarge { maximum: usize },
    #[error("The request's body is over {}.", Size(*maximum))]
    BodyTooLarge { maximum: usize },
    #[error(
        "The request's body did not arrive, or arrived too slowly, for {} seconds. Nothing was \
         changed. Please retry.",
        bound.as_secs_f64()
    )]
    BodyTooSlow { bound: Duration },
    #[error("The connection ended before the whole body of the request arrived.")]
    BodyBrokeOff,
    #[error(
        "The body must be declared as JSON: send the header 'Content-Type: application/json'. \
         Without API keys, other types are refused because any web page can send them."
    )]
    UnsupportedContentType,
    #[error("The body's 'Content-Encoding' is not supported: send it without one, or with gzip.")]
    UnsupportedEncoding,
    #[error(
        "The body is not valid gzip, although its 'Content-Encoding' is gzip. Nothing was changed."
    )]
    InvalidGzip,

    // ---- Requests that pass to an upstream ----
    #[error("WebSockets are not forwarded at {path}.")]
    WebSocketNotForwarded { path: String },
    #[error(
        "Invalid URL ({method} /v1{path}): no upstream is configured that could serve it \
         (--upstream)."
    )]
    NoUpstreamForPath { method: Method, path: String },
    #[error(
        "Invalid URL ({method} /v1{path}): this gateway does not forward such requests \
         (--pass-through none)."
    )]
    PassThroughDisabled { method: Method, path: String },
    #[error(
        "{method} /v1{path} is not forwarded to the upstream: several tenants share its account, \
         and each of them would see the stored data of all. The setting --pass-through all \
         forwards it."
    )]
    StatefulPathNotForwarded { method: Method, path: String },
    #[error(
        "'store' must be false: several tenants share the upstream's account, and each of them \
         would see the stored completions of all. The setting --pass-through all allows it."
    )]
    StoreNotForwarded,

    // ---- WebSockets ----
    #[error("The request cannot be upgraded to a WebSocket. {reason}")]
    NotUpgradable { reason: String },
    #[error("The request cannot be upgraded to a WebSocket. {reason}")]
    WrongWebSocketVersion { reason: String },
    #[error("A binary message was received. Messages must be text: JSON objects.")]
    BinaryMessage,
    #[error("The message is over {maximum} bytes.")]
    MessageTooLarge { maximum: usize },
    #[error("Responses are always streamed over a WebSocket.")]
    StreamRequired,
    #[error("Responses over a WebSocket cannot be in the background.")]
    BackgroundOverWebSocket,
    #[error(
        "The 'stream_id' field must be a non-empty string with at most 256 characters and may only \
         contain letters, numbers, underscores, hyphens, and periods."
    )]
    InvalidStreamId,
    #[error(
        "This WebSocket connection has reached its maximum number of distinct stream IDs \
         ({maximum}). Reuse an existing stream_id or open a new WebSocket connection."
    )]
    TooManyStreams { maximum: usize },
    #[error(
        "Too many requests wait on this WebSocket connection. Please try again when one of its \
         responses has ended."
    )]
    TooManyWaiting,
    #[error(
        "Responses websocket connection limit reached ({minutes} minutes). Create a new websocket \
         connection to continue."
    )]
    ConnectionTooOld { minutes: u64 },

    // ---- Failures of an upstream ----
    /// An upstream's error, forwarded unchanged.
    #[error("the upstream refused the request")]
    Upstream(Box<UpstreamRejection>),
    #[error("{reason}")]
    UpstreamFailed { reason: String },
    #[error("{reason}")]
    UpstreamTimeout { reason: String },
    #[error("{reason}")]
    UpstreamBusy { reason: String },
    #[error("The model did not complete its summary of the conversation. Nothing was changed.")]
    SummaryIncomplete,

    // ---- Failures of the gateway and its store ----
    /// A new request during the shutdown.
    #[error("The gateway is stopping. Nothing was changed. Please retry.")]
    Stopping,
    /// The shutdown ended this turn before it was complete.
    #[error("The gateway stopped before the answer was complete. The finished items are stored.")]
    Stopped,
    #[error("The gateway stopped before the upstream answered.")]
    StoppedBeforeAnswer,
    #[error("The store of conversations is unavailable. Nothing was changed. Please retry.")]
    StoreUnavailable,
    #[error(
        "The store of ledgers is unavailable. The new conversation was deleted at the upstream. \
         Please retry."
    )]
    ConversationNotRecorded,
    #[error(
        "The upstream created the conversation '{id}', but the store of ledgers is unavailable, \
         and the upstream did not delete the conversation."
    )]
    ConversationLeftAtUpstream { id: String },
    #[error(
        "Another replica took over this turn, because this one sent no heartbeat for too long. \
         Please retry."
    )]
    LeaseLost,
    #[error("All data of this account was erased while this request was working on it.")]
    AccountErased,
    /// A bug: the task of the request panicked.
    #[error("The gateway failed while it processed the request. Please retry.")]
    Panicked,
    #[error("The tokens of the request could not be counted. Nothing was changed. Please retry.")]
    TokensNotCounted,
    #[error(
        "The stored answer to this request cannot be read. Send it with another Idempotency-Key."
    )]
    UnreadableAnswer,

    /// An error with other ids in its text: the caller's instead of the upstream's.
    #[error("{message}")]
    Translated { error: Box<Self>, message: String },
}

impl ApiError {
    /// The error for a client of this API: a fault of its history has the text of its own API.
    /// `request` is the client's request.
    pub(crate) fn reworded(self, api: ClientApi, request: &Object<'_>) -> Self {
        match self {
            Self::RefusedItems(refusal) => api.reword(request, refusal).into(),
            other => other,
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::RefusedItems(refusal)
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::DuplicateItem(id) => Fault::DuplicateItem { id }.refusal(0).into(),
            StoreError::ConversationNotFound => Self::ConversationDeleted,
            StoreError::CursorNotFound(id) => Self::CursorNotFound { id },
            StoreError::LeaseLost => Self::LeaseLost,
            StoreError::Erased => Self::AccountErased,
            // No route restores an export.
            StoreError::RestoreCancelled | StoreError::QuotaExceeded(_) => Self::StoreUnavailable,
            StoreError::Unavailable(reason)
            | StoreError::NoSpace(reason)
            | StoreError::Conflict(reason) => {
                tracing::error!(%reason, "the store failed");
                Self::StoreUnavailable
            }
        }
    }
}

#[cfg(test)]
mod tests;
