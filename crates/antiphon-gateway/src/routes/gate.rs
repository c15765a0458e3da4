//! Admission of requests. It reads only the head of a request.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use tracing::Span;

use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::limits::{Allowance, TurnPermit};
use crate::request_body::discard;
use crate::request_id::RequestId;
use crate::span::TraceSpan;

/// Admits authenticated callers whose headers are within bounds and whose request rate is not
/// exceeded. Rejects every request while the gateway stops.
pub(super) async fn admit(
    State(gateway): State<Arc<Gateway>>,
    mut request: Request,
    next: Next,
) -> Response {
    if gateway.stopping.is_cancelled() {
        return refuse_while_stopping(&gateway, request).await;
    }
    let caller = match caller(&gateway, &request) {
        Ok(caller) => caller,
        Err(error) => {
            if error.status() == StatusCode::UNAUTHORIZED {
                gateway.refused_callers.count();
                gateway.metrics.refused_callers.inc();
            }
            return refuse(&gateway, request, error).await;
        }
    };
    let allowance = gateway.limiter.request(&caller.tenant);
    let mut response = if let Some(error) = allowance.and_then(Allowance::refusal) {
        refuse(&gateway, request, error).await
    } else {
        request.extensions_mut().insert(caller);
        next.run(request).await
    };
    if let Some(allowance) = allowance {
        allowance.write_headers(response.headers_mut());
    }
    response
}

/// Admits a turn if the caller does not have too many open ones.
pub(super) async fn permit_turn(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    request: Request,
    next: Next,
) -> Response {
    match permit(&gateway, &caller, request).await {
        Ok((permit, mut request)) => {
            request.extensions_mut().insert(permit);
            next.run(request).await
        }
        Err(error) => error.into_response(),
    }
}

/// The permit for a turn of this caller, and the request. If the caller has too many open turns,
/// drains the request.
pub(super) async fn permit(
    gateway: &Gateway,
    caller: &Caller,
    request: Request,
) -> Result<(TurnPermit, Request), ApiError> {
    match gateway.limiter.permit_turn(&caller.tenant) {
        Ok(permit) => Ok((permit, request)),
        Err(error) => {
            discard(request, &gateway.settings.limits).await;
            Err(error)
        }
    }
}

fn caller(gateway: &Gateway, request: &Request) -> Result<Caller, ApiError> {
    let headers = request.headers();
    let maximum = gateway.settings.limits.max_header_bytes;
    let length =
        |(name, value): (&http::HeaderName, &HeaderValue)| name.as_str().len() + value.len();
    if headers.iter().map(length).sum::<usize>() > maximum {
        return Err(ApiError::HeadersTooLarge { maximum });
    }
    let request_id = request.extensions().get::<RequestId>();
    let request_id = request_id.expect("every request is identified first").clone();
    let mut caller = gateway.authenticator.authenticate(headers, request_id)?;
    Span::current().record("tenant", caller.tenant.as_str());
    if let Some(trace) = request.extensions().get::<TraceSpan>() {
        caller.trace = trace.clone();
        caller.trace.record_caller(&caller);
    }
    Ok(caller)
}

async fn refuse_while_stopping(gateway: &Gateway, request: Request) -> Response {
    let mut refusal = refuse(gateway, request, ApiError::Stopping).await;
    refusal.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    refusal
}

/// Rejects a request and drains its body.
async fn refuse(gateway: &Gateway, request: Request, error: ApiError) -> Response {
    discard(request, &gateway.settings.limits).await;
    error.into_response()
}
