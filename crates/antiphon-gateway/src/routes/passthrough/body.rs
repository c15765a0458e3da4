//! A request's body, looked into for the model that it names.

use std::borrow::Cow;
use std::sync::Arc;

use antiphon::json::Object;
use axum::body::Body as AxumBody;
use axum::extract::{FromRequest as _, Request};
use bytes::{Bytes, BytesMut};
use http::request::Parts;
use http_body::Body as _;

use super::super::extract::{Body, check_announced, next_piece};
use super::form;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::media_type;

/// How much of a form is read before it passes on: fields that clients give beside a file are short,
/// and most stand before it.
const PEEKED: usize = 64 << 10;

/// A body of which as much is known as it takes to choose who gets it.
pub(super) enum Seen {
    /// All of it is there.
    Whole(Bytes),
    /// The rest is still to come.
    Begun {
        /// What has come.
        peeked: Bytes,
        /// The model that it names, where it does so early.
        model: Option<String>,
        /// What is to come.
        rest: AxumBody,
    },
}

impl Seen {
    /// Reads JSON whole, of a form the beginning, and of anything else nothing.
    pub(super) async fn read(
        request: Request,
        is_json: bool,
        gateway: &Arc<Gateway>,
    ) -> Result<(Parts, Self), ApiError> {
        let (parts, body) = request.into_parts();
        let boundary = form::boundary(&parts.headers).filter(|_| !is_json);
        if is_json || media_type::is_json(&parts.headers) || body.is_end_stream() {
            let request = Request::from_parts(parts.clone(), body);
            let Body(whole) = Body::from_request(request, gateway).await?;
            return Ok((parts, Self::Whole(whole)));
        }
        check_announced(&body, &gateway.settings.limits)?;
        let seen = peeked(body, boundary.as_deref(), gateway).await?;
        Ok((parts, seen))
    }

    /// The model that it names.
    pub(super) fn model(&self) -> Option<String> {
        match self {
            Self::Whole(body) => {
                let fields = Object::parse(body).ok()?;
                fields.string("model").map(Cow::into_owned)
            }
            Self::Begun { model, .. } => model.clone(),
        }
        .filter(|model| !model.is_empty())
    }

    /// All of it, where it is there.
    pub(super) fn whole(&self) -> Option<&Bytes> {
        match self {
            Self::Whole(body) => Some(body),
            Self::Begun { .. } => None,
        }
    }
}

async fn peeked(
    mut body: AxumBody,
    boundary: Option<&str>,
    gateway: &Gateway,
) -> Result<Seen, ApiError> {
    let (mut peeked, mut model) = (BytesMut::new(), None);
    if let Some(boundary) = boundary {
        let idle = gateway.settings.limits.body_timeout;
        while peeked.len() < PEEKED && model.is_none() {
            let Some(piece) = next_piece(&mut body, idle).await? else { break };
            peeked.extend_from_slice(&piece);
            model = form::field(&peeked, boundary, "model").map(str::to_owned);
        }
    }
    Ok(Seen::Begun { peeked: peeked.freeze(), model, rest: body })
}
