//! Extractors of the handlers.

use std::sync::Arc;

use axum::body::Body as AxumBody;
use axum::extract::{FromRequest, FromRequestParts, OriginalUri, Request};
use bytes::Bytes;
use http::request::Parts;
use http::{StatusCode, header};
use http_body::Body as _;
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::encoding::Encoding;
use super::pace::Pace;
use super::unknown_url;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::request::check_depth;
use crate::settings::Limits;

/// The caller that the gate authenticated.
impl FromRequestParts<Arc<Gateway>> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Gateway>) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Self>();
        Ok(caller.expect("the gate stands before every route").clone())
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
        let encoding = match Encoding::of(request.headers()) {
            Ok(encoding) => encoding,
            Err(error) => {
                pass_over(request, limits).await;
                return Err(error);
            }
        };
        let EncodedBody(body) = EncodedBody::from_request(request, gateway).await?;
        let body = encoding.decode(body, limits.max_body_bytes)?;
        check_depth(&body)?;
        Ok(Self(body))
    }
}

/// A request's body before decoding. Fails if the gateway stops and its grace period ends before
/// the body is complete.
pub(super) struct EncodedBody(pub(super) Bytes);

impl FromRequest<Arc<Gateway>> for EncodedBody {
    type Rejection = ApiError;

    async fn from_request(mut request: Request, gateway: &Arc<Gateway>) -> Result<Self, ApiError> {
        let limits = &gateway.settings.limits;
        let body = tokio::select! {
            body = collected(request.body_mut(), limits) => body,
            () = gateway.closing.cancelled() => Err(ApiError::Stopping),
        };
        if body.as_ref().is_err_and(|error| error.status() == StatusCode::PAYLOAD_TOO_LARGE) {
            pass_over(request, limits).await;
        }
        body.map(Self)
    }
}

/// Reads and drops the body of a rejected request.
///
/// Most clients read the answer only after they have sent the whole body, and would otherwise see a
/// broken connection. A client that sent `Expect` waits for permission, so its body is not read. If
/// the body takes too long, or exceeds the limit by itself, the rest stays unread and the
/// connection closes.
pub(crate) async fn pass_over(request: Request, limits: &Limits) {
    if request.headers().contains_key(header::EXPECT) {
        return;
    }
    let mut body = request.into_body();
    let mut passed = 0;
    let passing = async {
        while passed <= limits.max_body_bytes
            && let Some(Ok(frame)) = body.frame().await
        {
            passed += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    // The amount of data that was read does not matter.
    drop(timeout(limits.body_timeout, passing).await);
}

/// Reads the whole body. Reserves the announced length if it is within bounds; the system provides
/// the memory only as data arrives.
async fn collected(body: &mut AxumBody, limits: &Limits) -> Result<Bytes, ApiError> {
    let maximum = limits.max_body_bytes;
    let mut whole = Vec::with_capacity(check_announced(body, limits)?);
    let mut pace = Pace::new(limits.body_timeout);
    while let Some(piece) = pace.next(body).await? {
        if whole.len() + piece.len() > maximum {
            return Err(ApiError::BodyTooLarge { maximum });
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.into())
}

/// The announced length of the body, in bytes. Fails if it is out of bounds.
pub(super) fn check_announced(body: &AxumBody, limits: &Limits) -> Result<usize, ApiError> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > limits.max_body_bytes {
        return Err(ApiError::BodyTooLarge { maximum: limits.max_body_bytes });
    }
    Ok(announced)
}
