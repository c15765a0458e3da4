//! Events from clients.

use std::sync::Arc;

use antiphon::json::{self, Object};
use bytes::Bytes;
use http::HeaderMap;

use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::lane::{Lane, Memory, StreamId};
use crate::request::{CreateRequest, RequestMode, boolean, check_depth, parse_object};

/// An event from a client.
#[derive(Debug)]
pub(super) enum ClientEvent {
    /// `response.create`: starts a turn.
    Create(CreateEvent),
    /// `response.steer`: input for an open turn. The gateway rejects it and returns the input
    /// unchanged.
    Steer {
        /// The id of the response, as JSON.
        response: String,
        /// The input, as JSON.
        input: String,
    },
}

/// A request for a turn.
#[derive(Debug)]
pub(super) struct CreateEvent {
    /// The lane of the turn.
    pub(super) stream: Option<StreamId>,
    pub(super) request: CreateRequest,
    /// The size of the request in bytes.
    pub(super) bytes: usize,
}

/// A rejected event, with the lane that it names.
#[derive(Debug)]
pub(super) struct RejectedEvent {
    pub(super) stream: Option<StreamId>,
    pub(super) error: ApiError,
}

/// Fields of the event that are not part of a request body.
const ENVELOPE_FIELDS: [&str; 4] = ["type", "stream_id", "stream", "generate"];

impl ClientEvent {
    /// Parses an event. The errors are those of a request body.
    pub(super) fn parse(
        text: &Bytes,
        gateway: &Gateway,
        memory: &Arc<Memory>,
    ) -> Result<Self, RejectedEvent> {
        let refused = |error| RejectedEvent { stream: None, error };
        check_depth(text).map_err(refused)?;
        let event = parse_object(text).map_err(refused)?;
        match kind(&event).map_err(refused)?.as_str() {
            "response.create" => {
                let stream = StreamId::from_event(&event).map_err(refused)?;
                let create = create(text, &event, stream.clone(), gateway, memory);
                create.map(Self::Create).map_err(|error| RejectedEvent { stream, error })
            }
            "response.steer" => steer(&event).map_err(refused),
            other => Err(refused(unknown(other))),
        }
    }
}

fn kind(event: &Object<'_>) -> Result<String, ApiError> {
    let raw =
        event.present("type").ok_or_else(|| ApiError::MissingParameter { name: "type".into() })?;
    let kind = json::unquote(raw);
    let kind = kind.ok_or_else(|| ApiError::WrongType {
        path: "type".into(),
        expected: "a string",
        got: json::type_name(raw),
    });
    Ok(kind?.into_owned())
}

fn unknown(kind: &str) -> ApiError {
    let (path, value) = ("type".into(), kind.chars().take(64).collect());
    ApiError::InvalidValue { path, value, supported: &["response.create"] }
}

fn create(
    text: &Bytes,
    event: &Object<'_>,
    stream: Option<StreamId>,
    gateway: &Gateway,
    memory: &Arc<Memory>,
) -> Result<CreateEvent, ApiError> {
    check_delivery(event)?;
    let mode = match boolean(event, "generate")? {
        Some(false) => RequestMode::Preparation,
        _ => RequestMode::Answer,
    };
    // Ignore the headers of the connection: an idempotency key among them would apply to every
    // turn.
    let identity = gateway.digest_key.identify(&HeaderMap::new(), text)?;
    let request = CreateRequest::parse(text, identity, &gateway.settings.limits)?;
    let lane = Lane::new(stream.clone(), memory);
    let request = request.for_lane(lane, mode, &ENVELOPE_FIELDS);
    Ok(CreateEvent { stream, request, bytes: text.len() })
}

/// Rejects `stream: false` and `background: true`: every response is streamed here, and none is in
/// the background. The opposite values are redundant and accepted.
fn check_delivery(event: &Object<'_>) -> Result<(), ApiError> {
    if boolean(event, "stream")? == Some(false) {
        return Err(ApiError::StreamRequired);
    }
    if boolean(event, "background")? == Some(true) {
        return Err(ApiError::BackgroundOverWebSocket);
    }
    Ok(())
}

fn steer(event: &Object<'_>) -> Result<ClientEvent, ApiError> {
    let given = |key| event.present(key).map(str::to_owned);
    let response = given("previous_response_id");
    let response = response
        .ok_or_else(|| ApiError::MissingParameter { name: "previous_response_id".into() })?;
    let input =
        given("input").ok_or_else(|| ApiError::MissingParameter { name: "input".into() })?;
    Ok(ClientEvent::Steer { response, input })
}
