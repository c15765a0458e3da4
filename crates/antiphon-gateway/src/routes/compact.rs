//! `/v1/responses/compact`

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;

use super::extract::Body;
use super::json;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::limits::TurnPermit;
use crate::request::CreateRequest;
use crate::turn::{Head, compact_history};

/// `POST /v1/responses/compact`. It takes as long as a turn, so it needs the permit of a turn.
pub(super) async fn create(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    headers: HeaderMap,
    Extension(_permit): Extension<TurnPermit>,
    Body(body): Body,
) -> Result<Response, ApiError> {
    let identity = gateway.digest_key.identify(&headers, &body)?;
    let request = CreateRequest::parse(&body, identity, &gateway.settings.limits)?;
    let (Head(headers), compacted) = compact_history(&gateway, &caller, &request).await?;
    Ok((headers, json(compacted)).into_response())
}
