//! The request body, inspected for the model name.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

use antiphon::json::Object;
use axum::body::Body as AxumBody;
use axum::extract::{FromRequest as _, Request};
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use http::HeaderMap;
use http::request::Parts;
use http_body::Body as _;

use super::super::extract::EncodedBody;
use super::form;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::media_type;
use crate::request::check_depth;
use crate::request_body::{Encoding, Pace, check_announced};

/// The number of bytes of a form to read before it is forwarded. Fields next to a file are short,
/// and most come before it.
const PEEKED: usize = 64 << 10;

/// A body, read as far as necessary to choose its upstream.
pub(in crate::routes) enum InspectedBody {
    /// The whole body.
    Whole {
        /// The bytes before decoding.
        sent: Bytes,
        /// The decoded bytes.
        json: Bytes,
    },
    /// The beginning of a body.
    Begun {
        /// The bytes read so far.
        peeked: Bytes,
        /// The model, if these bytes name it.
        model: Option<String>,
        /// The remaining body.
        rest: AxumBody,
    },
}

impl InspectedBody {
    /// Reads the whole body if it is JSON, the beginning of a form, and nothing of any other body.
    pub(in crate::routes) async fn read(
        request: Request,
        is_json: bool,
        gateway: &Arc<Gateway>,
    ) -> Result<(Parts, Self), ApiError> {
        let (parts, body) = request.into_parts();
        let boundary = form::boundary(&parts.headers).filter(|_| !is_json);
        if is_json || media_type::is_json(&parts.headers) || body.is_end_stream() {
            let request = Request::from_parts(parts.clone(), body);
            let EncodedBody(sent) = EncodedBody::from_request(request, gateway).await?;
            let json = decoded(&parts.headers, &sent, gateway)?;
            return Ok((parts, Self::Whole { sent, json }));
        }
        check_announced(&body, &gateway.settings.limits)?;
        let body = peeked(body, boundary.as_deref(), gateway).await?;
        Ok((parts, body))
    }

    /// The model that the body names.
    pub(super) fn model(&self) -> Option<String> {
        match self {
            Self::Whole { json, .. } => {
                let fields = Object::parse(json).ok()?;
                fields.string("model").map(Cow::into_owned)
            }
            Self::Begun { model, .. } => model.clone(),
        }
        .filter(|model| !model.is_empty())
    }

    /// The whole decoded body, if it was read.
    pub(in crate::routes) fn whole(&self) -> Option<&Bytes> {
        match self {
            Self::Whole { json, .. } => Some(json),
            Self::Begun { .. } => None,
        }
    }
}

/// Decodes a body. If only the upstream may know its encoding, the body passes unchanged and the
/// gateway cannot read it.
fn decoded(headers: &HeaderMap, sent: &Bytes, gateway: &Gateway) -> Result<Bytes, ApiError> {
    let maximum = gateway.settings.limits.max_body_bytes;
    let encoding = Encoding::from_headers(headers).unwrap_or(Encoding::Identity);
    let json = encoding.decode(sent.clone(), maximum)?;
    check_depth(&json)?;
    Ok(json)
}

/// Reads the beginning of a form until it names a model, and nothing of any other body.
async fn peeked(
    mut body: AxumBody,
    boundary: Option<&str>,
    gateway: &Gateway,
) -> Result<InspectedBody, ApiError> {
    let Some(boundary) = boundary else {
        return Ok(InspectedBody::Begun { peeked: Bytes::new(), model: None, rest: body });
    };
    let (mut peeked, mut failure) = (BytesMut::new(), None);
    let pace = Pace::new(gateway.settings.limits.body_timeout);
    let source = (&mut body, pace, &mut peeked, &mut failure);
    let pieces = stream::unfold(source, async |(body, mut pace, peeked, failure)| {
        if peeked.len() >= PEEKED {
            return None;
        }
        match pace.next(body).await {
            Ok(piece) => {
                let piece = piece?;
                peeked.extend_from_slice(&piece);
                Some((Ok::<_, Infallible>(piece), (body, pace, peeked, failure)))
            }
            Err(error) => {
                *failure = Some(error);
                None
            }
        }
    });
    let model = form::field(pieces, boundary, "model").await;
    match failure {
        Some(error) => Err(error),
        None => Ok(InspectedBody::Begun { peeked: peeked.freeze(), model, rest: body }),
    }
}
