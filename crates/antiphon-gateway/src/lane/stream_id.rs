//! The names of lanes.

use std::sync::Arc;

use antiphon::json::{self, Object};

use crate::error::ApiError;

/// The name of a lane: 1 to 256 letters, digits, underscores, hyphens and periods.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StreamId(Arc<str>);

const LONGEST: usize = 256;

impl StreamId {
    /// The lane in a client's event. `None` means the unnamed lane.
    pub(crate) fn of(event: &Object<'_>) -> Result<Option<Self>, ApiError> {
        let Some(raw) = event.present("stream_id") else { return Ok(None) };
        let name = json::unquote(raw).filter(|name| is_name(name)).ok_or_else(invalid)?;
        Ok(Some(Self(name.into())))
    }

    /// The name. It needs no escaping in JSON.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_name(text: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(is_known)
}

fn invalid() -> ApiError {
    ApiError::invalid(
        "The 'stream_id' field must be a non-empty string with at most 256 characters and may only \
         contain letters, numbers, underscores, hyphens, and periods.",
    )
    .code("invalid_stream_id")
    .param("stream_id")
}
