//! The header `Antiphon-Conversation`: it names the stored conversation that a request continues,
//! for clients that cannot add a field to the body.

use std::sync::Arc;

use antiphon::json::{Object, quote};
use axum::extract::{FromRequest as _, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::{HeaderMap, header};

use super::extract::{Body, read_decoded};
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::request::conversation;

const NAME: &str = "antiphon-conversation";

/// The maximum length in characters of an id that an error repeats.
const MAX_SHOWN: usize = 64;

/// The conversation that the header names.
pub(super) fn named_conversation(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(NAME)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// The conversation of a request whose header and body may both name one. `path` is the field of
/// the body.
///
/// # Errors
/// [`ApiError::OtherConversation`] if they name different ones.
pub(super) fn only_conversation(
    header: Option<String>,
    body: Option<String>,
    path: &'static str,
) -> Result<Option<String>, ApiError> {
    match (header, body) {
        (Some(header), Some(body)) if header != body => {
            let shown = |id: String| id.chars().take(MAX_SHOWN).collect();
            Err(ApiError::OtherConversation { header: shown(header), body: shown(body), path })
        }
        (header, body) => Ok(header.or(body)),
    }
}

/// Moves the header into the field `conversation` of a request of the Responses API, as
/// [`read_named`] does, before other layers read the request.
pub(super) async fn move_to_body(
    State(gateway): State<Arc<Gateway>>,
    request: Request,
    next: Next,
) -> Response {
    let Some(id) = named_conversation(request.headers()) else {
        return next.run(request).await;
    };
    match with_field(&gateway, request, &id).await {
        Ok(request) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

async fn with_field(
    gateway: &Arc<Gateway>,
    request: Request,
    id: &str,
) -> Result<Request, ApiError> {
    let (mut parts, body) = read_decoded(gateway, request).await?;
    let body = add_field(body, id)?;
    parts.headers.remove(NAME);
    parts.headers.remove(header::CONTENT_LENGTH);
    Ok(Request::from_parts(parts, body.into()))
}

/// The body of a request of the Responses API, with the conversation of the header in its field
/// `conversation`. Rejects a body that names another conversation.
pub(super) async fn read_named(
    gateway: &Arc<Gateway>,
    request: Request,
) -> Result<Bytes, ApiError> {
    let named = named_conversation(request.headers());
    let Body(body) = Body::from_request(request, gateway).await?;
    match named {
        Some(id) => add_field(body, &id),
        None => Ok(body),
    }
}

/// The body with the field. An invalid body stays the same: the route rejects it.
fn add_field(body: Bytes, id: &str) -> Result<Bytes, ApiError> {
    let Ok(mut fields) = Object::parse(&body) else { return Ok(body) };
    let Ok(named) = conversation(&fields) else { return Ok(body) };
    if named.is_none() {
        fields.set("conversation", quote(id));
        return Ok(fields.to_bytes());
    }
    only_conversation(Some(id.to_owned()), named, "conversation")?;
    Ok(body)
}
