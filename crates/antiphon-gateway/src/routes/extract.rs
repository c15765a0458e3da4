//! Extractors of the handlers.

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, OriginalUri, Request};
use bytes::Bytes;
use http::request::Parts;
use http::{StatusCode, header};
use serde::de::DeserializeOwned;

use super::unknown_url;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::request::check_depth;
use crate::request_body::{Encoding, discard, read_whole};

/// The caller that the gate authenticated.
impl FromRequestParts<Arc<Gateway>> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Gateway>) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Self>();
        Ok(caller.expect("the gate precedes every route").clone())
    }
}

/// The ids in a request's path. An id that is not valid text leads to the error for an unknown URL.
pub(super) struct Path<T>(pub(super) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Ok(OriginalUri(uri)) = OriginalUri::from_request_parts(parts, state).await;
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(ids)) => Ok(Self(ids)),
            Err(_) => Err(unknown_url(&parts.method, &uri)),
        }
    }
}

/// A request's body, decoded. It must be JSON; the content type is ignored. Rejects JSON that is
/// nested too deeply.
pub(super) struct Body(pub(super) Bytes);

impl FromRequest<Arc<Gateway>> for Body {
    type Rejection = ApiError;

    async fn from_request(request: Request, gateway: &Arc<Gateway>) -> Result<Self, ApiError> {
        let limits = &gateway.settings.limits;
        let encoding = match Encoding::from_headers(request.headers()) {
            Ok(encoding) => encoding,
            Err(error) => {
                discard(request, limits).await;
                return Err(error);
            }
        };
        let EncodedBody(body) = EncodedBody::from_request(request, gateway).await?;
        let body = encoding.decode(body, limits.max_body_bytes)?;
        check_depth(&body)?;
        Ok(Self(body))
    }
}

/// The request, and its whole body, decoded. The headers are those of the decoded body.
pub(super) async fn read_decoded(
    gateway: &Arc<Gateway>,
    request: Request,
) -> Result<(Parts, Bytes), ApiError> {
    let (mut parts, body) = request.into_parts();
    let request = Request::from_parts(parts.clone(), body);
    let Body(body) = Body::from_request(request, gateway).await?;
    if parts.headers.remove(header::CONTENT_ENCODING).is_some() {
        parts.headers.remove(header::CONTENT_LENGTH);
    }
    Ok((parts, body))
}

/// A request's body before decoding. Fails if the gateway stops and its grace period ends before
/// the body is complete.
pub(super) struct EncodedBody(pub(super) Bytes);

impl FromRequest<Arc<Gateway>> for EncodedBody {
    type Rejection = ApiError;

    async fn from_request(mut request: Request, gateway: &Arc<Gateway>) -> Result<Self, ApiError> {
        let limits = &gateway.settings.limits;
        let body = tokio::select! {
            body = read_whole(request.body_mut(), limits) => body,
            () = gateway.closing.cancelled() => Err(ApiError::Stopping),
        };
        if body.as_ref().is_err_and(|error| error.status() == StatusCode::PAYLOAD_TOO_LARGE) {
            discard(request, limits).await;
        }
        body.map(Self)
    }
}
