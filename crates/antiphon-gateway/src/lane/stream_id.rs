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
    pub(crate) fn from_event(event: &Object<'_>) -> Result<Option<Self>, ApiError> {
        let Some(raw) = event.present("stream_id") else { return Ok(None) };
        let name =
            json::unquote(raw).filter(|name| is_name(name)).ok_or(ApiError::InvalidStreamId)?;
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
