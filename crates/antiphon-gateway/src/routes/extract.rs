//! What handlers take from a request.

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, OriginalUri, Request};
use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use super::unknown_url;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;

/// The bound on a request's body.
const MAX_BODY: usize = 32 << 20;

impl FromRequestParts<Arc<Gateway>> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        gateway: &Arc<Gateway>,
    ) -> Result<Self, ApiError> {
        gateway.authenticator.authenticate(&parts.headers)
    }
}

/// The ids in a request's path. One that is no text names nothing.
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

/// A request's body, whatever its content type says: clients send JSON.
pub(super) struct Body(pub(super) Bytes);

impl FromRequest<Arc<Gateway>> for Body {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Arc<Gateway>) -> Result<Self, ApiError> {
        let body = Limited::new(request.into_body(), MAX_BODY);
        match body.collect().await {
            Ok(collected) => Ok(Self(collected.to_bytes())),
            Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
            Err(_) => Err(ApiError::invalid("The request's body broke off before its end.")),
        }
    }
}

fn too_large() -> ApiError {
    let message = format!("The request's body is over {} MiB.", MAX_BODY >> 20);
    ApiError::of(StatusCode::PAYLOAD_TOO_LARGE, "invalid_request_error", message)
        .code("request_too_large")
}
